//! What each part of a spec may be, where the API server's own rules have been stepped over, or cannot say it.

use crate::kinds::Violation;
use crate::kinds::annotations::PREFIX;
use crate::kinds::database::object::fields;
use crate::kinds::database::object::parts::{Extension, RestoreFrom, ServiceType};
use crate::kinds::faults::{Faults, is_qualified, is_subdomain};
use crate::kinds::pod_template::Strings;
use crate::kinds::prose::beginning;
use crate::kinds::spec_rules::below;
use regex_lite::Regex;
use std::net::IpAddr;

/// A quoted value is cut here.
const VALUE_CHARACTERS: usize = 80;

fn matches(pattern: &str, text: &str) -> bool {
    // Every pattern is a constant that a test compiles.
    Regex::new(pattern).is_ok_and(|pattern| pattern.is_match(text))
}

fn quoted(value: &str) -> String {
    format!("{:?}", beginning(value, VALUE_CHARACTERS))
}

/// What is wrong with the name of a database.
pub fn illegal_name(name: &str) -> Option<Violation> {
    let legal = name.len() <= fields::DATABASE_NAME_LENGTH && matches(fields::DATABASE_NAME, name);
    let text = if !legal {
        format!("{} {}", quoted(name), fields::DATABASE_NAME_TEXT)
    } else if fields::RESERVED_NAMES.contains(&name) {
        format!("{name} {}", fields::RESERVED_TEXT)
    } else {
        return None;
    };
    Some(Violation::invalid("spec.databaseName", text))
}

/// What is wrong with a list of extensions.
pub fn illegal_extensions(extensions: &[Extension]) -> Vec<Violation> {
    let mut faults = Faults::default();
    for (place, Extension { name }) in extensions.iter().enumerate() {
        let at = format!("extensions[{place}].name");
        let legal = name.len() <= fields::EXTENSION_LENGTH && matches(fields::EXTENSION, name);
        faults.unless(legal, &at, || format!("{} {}", quoted(name), fields::EXTENSION_TEXT));
        let twice = extensions[..place].iter().any(|other| other.name == *name);
        faults.unless(!twice, &at, || format!("{} stands in the list twice; name each extension once", quoted(name)));
    }
    let (count, most) = (extensions.len(), fields::EXTENSIONS);
    faults.unless(count <= most, "extensions", || format!("{count} extensions are over {most}"));
    below("spec", faults.found()).collect()
}

/// What is wrong with the source of the data.
pub fn illegal_source(RestoreFrom { claim_name, file }: &RestoreFrom) -> Vec<Violation> {
    let mut faults = Faults::default();
    faults.unless(is_subdomain(claim_name), "restoreFrom.claimName", || format!("{} {}", quoted(claim_name), fields::CLAIM_TEXT));
    if let Some(file) = file {
        let legal = file.len() <= fields::FILE_LENGTH && matches(fields::FILE, file);
        faults.unless(legal, "restoreFrom.file", || format!("{} {}", quoted(file), fields::FILE_TEXT));
    }
    below("spec", faults.found()).collect()
}

/// What is wrong with the Service.
pub fn illegal_service(type_: ServiceType, annotations: &Strings, ranges: &[String]) -> Vec<Violation> {
    let mut faults = Faults::default();
    for key in annotations.keys() {
        // Of annotations alone, the API server takes capitals in the prefix.
        faults.unless(is_qualified(&key.to_ascii_lowercase()), "service.annotations", || {
            format!("{} is no key; write [prefix/]name of letters, digits, '-', '_' and '.'", quoted(key))
        });
        faults.unless(!key.starts_with(PREFIX), "service.annotations", || {
            format!("{} is the operator's; use a prefix of your own", quoted(key))
        });
    }
    for (place, range) in ranges.iter().enumerate() {
        let at = format!("service.loadBalancerSourceRanges[{place}]");
        faults.unless(is_range(range), &at, || format!("{} {}", quoted(range), fields::RANGE_TEXT));
    }
    let balanced = type_ == ServiceType::LoadBalancer || ranges.is_empty();
    faults.unless(balanced, "service.loadBalancerSourceRanges", || {
        format!("it has a meaning only where type is LoadBalancer, and type is {}; change the type or remove the ranges", type_.name())
    });
    below("spec", faults.found()).collect()
}

/// Is it an address and the length of a prefix?
fn is_range(text: &str) -> bool {
    let Some((address, length)) = text.split_once('/') else { return false };
    let most = match address.parse() {
        Ok(IpAddr::V4(_)) => 32,
        Ok(IpAddr::V6(_)) => 128,
        Err(_) => return false,
    };
    length.bytes().all(|byte| byte.is_ascii_digit()) && length.parse::<u32>().is_ok_and(|length| length <= most)
}
