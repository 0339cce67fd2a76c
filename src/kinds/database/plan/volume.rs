//! Volumes as a plan wants them.

use crate::kinds::Violation;
use crate::kinds::database::object::fields;
use crate::kinds::faults::is_subdomain;
use crate::kinds::quantity::Quantity;
use std::fmt;

/// One thousand million parts of a byte.
const NANO: i128 = 1_000_000_000;

/// A size in bytes, and how its writer spelled it: another spelling is no change.
#[derive(Clone, Debug)]
pub struct Size {
    /// In bytes, a part of one counted as one.
    pub bytes: i64,
    /// As it was written.
    pub spelling: Quantity,
}

impl PartialEq for Size {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl fmt::Display for Size {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.spelling.fmt(out)
    }
}

impl Size {
    /// The size that a quantity says; `None` where it says none.
    pub fn of(spelling: &Quantity) -> Option<Self> {
        let nanos = spelling.nanos()?;
        let bytes = i64::try_from(nanos.div_euclid(NANO) + i128::from(nanos.rem_euclid(NANO) != 0)).ok()?;
        Some(Size { bytes, spelling: spelling.clone() })
    }
}

/// A volume.
#[derive(Clone, Debug, PartialEq)]
pub struct Volume {
    /// How large.
    pub size: Size,
    /// Its StorageClass; the cluster's default where there is none.
    pub class: Option<String>,
}

/// The size that `field` asks for.
pub fn size(field: &str, spelling: &Quantity, faults: &mut Vec<Violation>) -> Size {
    let (least, most) = fields::SIZE;
    // Whole bytes alone would take a part of a byte more than the largest for the largest.
    let nanos = |text: &str| Quantity::from(text).nanos().unwrap_or_default();
    let within = spelling.nanos().is_some_and(|size| (nanos(least)..=nanos(most)).contains(&size));
    Size::of(spelling).filter(|_| within).unwrap_or_else(|| {
        faults.push(Violation::invalid(field, format!("{spelling} is not a quantity from {least} to {most}")));
        Size { bytes: 0, spelling: spelling.clone() }
    })
}

/// The StorageClass that `field` names.
pub fn class(field: &str, name: Option<&str>, faults: &mut Vec<Violation>) -> Option<String> {
    if let Some(name) = name.filter(|name| !is_subdomain(name)) {
        faults.push(Violation::invalid(field, format!("{name:?} {}", fields::CLASS_TEXT)));
    }
    name.map(str::to_owned)
}
