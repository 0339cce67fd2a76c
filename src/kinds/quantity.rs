//! Kubernetes quantities, exact: `1.5Gi` is 1610612736, never 1 GiB.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// A quantity as its writer spelled it: `64Mi`, `1.5Gi`, `500m`, or a bare number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Quantity {
    /// A whole number of units, written as a number.
    Number(i64),
    /// A number with a suffix.
    Text(String),
}

/// One thousand million parts of a unit: the finest step that the API server keeps.
const NANO: i128 = 1_000_000_000;
/// The finest step of an amount of a resource, in thousand-millionths.
const MILLI: i128 = 1_000_000;

impl Quantity {
    /// The exact value in whole units (bytes, for memory); `None` if it does not parse or is not whole.
    pub fn units(&self) -> Option<i64> {
        let nanos = self.nanos()?;
        (nanos % NANO == 0).then(|| i64::try_from(nanos / NANO).ok())?
    }

    /// The value in thousand-millionths, rounded up; `None` if it does not parse.
    pub fn nanos(&self) -> Option<i128> {
        match self {
            Quantity::Number(units) => Some(i128::from(*units) * NANO),
            Quantity::Text(text) => parse(text),
        }
    }

    /// The spelling that the API server stores in core objects; the text itself if it does not parse.
    pub fn canonical(&self) -> String {
        let text = self.to_string();
        let Some(nanos) = self.nanos() else { return text };
        // It rounds amounts of resources up.
        let nanos = nanos + (-nanos).rem_euclid(MILLI);
        let binary = text.ends_with('i') && nanos % NANO == 0 && nanos.abs() >= 1024 * NANO;
        if binary { binary_form(nanos / NANO) } else { decimal_form(nanos, text.contains(['e', 'E']) && !text.ends_with('E')) }
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Quantity::Number(units) => write!(out, "{units}"),
            Quantity::Text(text) => out.write_str(text),
        }
    }
}

impl From<&str> for Quantity {
    fn from(text: &str) -> Self {
        Quantity::Text(text.to_owned())
    }
}

impl JsonSchema for Quantity {
    fn schema_name() -> Cow<'static, str> {
        "Quantity".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "x-kubernetes-int-or-string": true, "nullable": false, "maxLength": 32 })
    }
}

fn parse(text: &str) -> Option<i128> {
    let end = text.find(|c: char| !matches!(c, '0'..='9' | '.' | '+' | '-')).unwrap_or(text.len());
    let (number, suffix) = text.split_at(end);
    let (sign, digits) = match number.as_bytes().first()? {
        b'-' => (-1, &number[1..]),
        b'+' => (1, &number[1..]),
        _ => (1, number),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if whole.len() + fraction.len() == 0 || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    let mantissa: i128 = format!("0{whole}{fraction}").parse().ok()?;
    let (numerator, denominator) = scale(suffix)?;
    let denominator = denominator.checked_mul(10i128.checked_pow(u32::try_from(fraction.len()).ok()?)?)?;
    let nanos = mantissa.checked_mul(numerator)?.checked_mul(NANO)?;
    let rounded_up = nanos / denominator + i128::from(nanos % denominator != 0);
    (rounded_up / NANO <= i128::from(i64::MAX)).then_some(sign * rounded_up)
}

/// A suffix as a fraction of one unit.
fn scale(suffix: &str) -> Option<(i128, i128)> {
    const BINARY: [&str; 6] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    if let Some(power) = BINARY.iter().position(|known| *known == suffix) {
        return Some((1 << (10 * (power + 1)), 1));
    }
    let power: i32 = match suffix {
        "n" => -9,
        "u" => -6,
        "m" => -3,
        "" => 0,
        "k" => 3,
        "M" => 6,
        "G" => 9,
        "T" => 12,
        "P" => 15,
        "E" => 18,
        _ => suffix.strip_prefix(['e', 'E'])?.parse().ok()?,
    };
    let factor = 10i128.checked_pow(power.unsigned_abs())?;
    Some(if power < 0 { (1, factor) } else { (factor, 1) })
}

fn binary_form(mut units: i128) -> String {
    let mut power = 0;
    while power < 6 && units % 1024 == 0 && units != 0 {
        units /= 1024;
        power += 1;
    }
    format!("{units}{}", ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"][power])
}

fn decimal_form(nanos: i128, exponent: bool) -> String {
    if nanos == 0 {
        return "0".to_owned();
    }
    let (mut value, mut power) = (nanos, -9);
    while power < 18 && value % 1000 == 0 {
        value /= 1000;
        power += 3;
    }
    let suffix = match (exponent, power) {
        (true, 0) => String::new(),
        (true, power) => format!("e{power}"),
        (false, power) => ["n", "u", "m", "", "k", "M", "G", "T", "P", "E"][usize::try_from((power + 9) / 3).unwrap_or(3)].to_owned(),
    };
    format!("{value}{suffix}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_exactly() {
        let cases = [
            ("64Mi", Some(67_108_864)),
            ("1.5Gi", Some(1_610_612_736)),
            ("0", Some(0)),
            ("-1Mi", Some(-1_048_576)),
            ("1E", Some(1_000_000_000_000_000_000)),
            ("1e3", Some(1000)),
            ("500m", None),
            ("", None),
            ("Mi", None),
            ("1.2.3", None),
            ("1KiB", None),
            ("0x10", None),
            ("9223372036854775808", None),
            ("1000m", Some(1)),
            (".5Ki", Some(512)),
            ("67108864.0000000000000000000000", Some(67_108_864)),
            ("1e-3", None),
        ];
        for (text, units) in cases {
            assert_eq!(Quantity::from(text).units(), units, "{text}");
        }
    }

    #[test]
    fn the_canonical_form_is_the_api_servers() {
        let cases = [
            ("1000m", "1"),
            ("0.5", "500m"),
            ("1024Mi", "1Gi"),
            ("1.5Gi", "1536Mi"),
            ("100000", "100k"),
            ("0.5Ki", "512"),
            ("1e3", "1e3"),
            ("0Mi", "0"),
            ("2", "2"),
            ("50m", "50m"),
            ("1500m", "1500m"),
            ("500u", "1m"),
            ("0.0105", "11m"),
            ("1n", "1m"),
        ];
        for (text, canonical) in cases {
            assert_eq!(Quantity::from(text).canonical(), canonical, "{text}");
        }
    }
}
