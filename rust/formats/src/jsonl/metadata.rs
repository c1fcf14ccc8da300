//! The metadata of an entry: checked and kept as compact JSON.

use super::MOST_METADATA_DEPTH;

/// Python refuses to read longer integers (`sys.int_info.default_max_str_digits`).
const MOST_DIGITS: usize = 4300;

/// The text of a JSON object without the white space between its parts; everything else, numbers too, stays as it is
/// written. `raw` is valid JSON but for lone surrogates in its strings.
///
/// A key that is there twice is kept twice; whoever reads it takes the last, as JSON readers do.
///
/// # Errors
/// What no JSON reader could give back: nesting beyond [`MOST_METADATA_DEPTH`], numbers beyond a double's range, integers
/// of more than [`MOST_DIGITS`] digits, lone surrogates.
pub(crate) fn compact(raw: &str) -> Result<String, String> {
    let bytes = raw.as_bytes();
    let mut compact = String::with_capacity(raw.len());
    let mut depth = 0;
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            b' ' | b'\t' | b'\n' | b'\r' => {
                at += 1;
                continue;
            }
            b'"' => string_end(raw, at)?,
            b'-' | b'0'..=b'9' => number_end(raw, at)?,
            byte => {
                match byte {
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => depth -= 1,
                    _ => {}
                }
                if depth > MOST_METADATA_DEPTH {
                    return Err(format!(
                        "objects and arrays are nested more than the {MOST_METADATA_DEPTH} levels that are allowed"
                    ));
                }
                at + 1
            }
        };
        compact.push_str(&raw[at..end]);
        at = end;
    }
    Ok(compact)
}

/// The end of the string that starts at `start`.
fn string_end(raw: &str, start: usize) -> Result<usize, String> {
    let mut at = start + 1;
    let mut escapes = false;
    while let Some(found) = memchr::memchr2(b'"', b'\\', &raw.as_bytes()[at..]) {
        at += found + 1;
        if raw.as_bytes()[at - 1] == b'"' {
            break;
        }
        escapes = true;
        at += 1;
    }
    let string = &raw[start..at];
    match escapes && serde_json::from_str::<String>(string).is_err() {
        true => Err("a string has an escape of a lone surrogate, which UTF-8 cannot hold".to_owned()),
        false => Ok(at),
    }
}

/// The end of the number that starts at `start`.
fn number_end(raw: &str, start: usize) -> Result<usize, String> {
    let len = raw[start..]
        .bytes()
        .take_while(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
    let end = start + len.count();
    let number = &raw[start..end];
    if number.contains(['.', 'e', 'E']) {
        if !number.parse().is_ok_and(f64::is_finite) {
            return Err("a number is beyond the range of double precision (about 1.8e308)".to_owned());
        }
    } else if number.trim_start_matches('-').len() > MOST_DIGITS {
        return Err(format!("an integer has more than {MOST_DIGITS} digits"));
    }
    Ok(end)
}
