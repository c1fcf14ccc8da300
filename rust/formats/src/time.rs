//! Times as ISO 8601 writes them, in the extended form of entries and in the basic form of TMX.

/// `20240628T093631Z` as `2024-06-28T09:36:31Z`; `None` for anything that is not written so.
pub(crate) fn extended(basic: &str) -> Option<String> {
    let bytes = basic.as_bytes();
    let digits = |from: usize, to: usize| bytes[from..to].iter().all(u8::is_ascii_digit);
    if bytes.len() != 16 || bytes[8] != b'T' || bytes[15] != b'Z' || !digits(0, 8) || !digits(9, 15) {
        return None;
    }
    let [year, month, day] = [&basic[..4], &basic[4..6], &basic[6..8]];
    let [hour, minute, second] = [&basic[9..11], &basic[11..13], &basic[13..15]];
    Some(format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z"))
}

/// A time in the extended form as TMX has it: in UTC, whole seconds. A date has no time, and is taken as its beginning;
/// what is written without an offset is taken as UTC.
pub(crate) fn basic(text: &str) -> Option<String> {
    let (date, rest) = (text.get(..10)?, &text[10..]);
    let [year, month, day] = fields(date, '-', [4, 2, 2])?;
    let (mut seconds, mut offset) = (0, 0);
    if !rest.is_empty() {
        let time = rest.strip_prefix(['T', 't', ' '])?;
        let [hour, minute, second] = fields(time.get(..8)?, ':', [2, 2, 2])?;
        if hour > 23 || minute > 59 || second > 59 {
            return None;
        }
        seconds = (hour * 60 + minute) * 60 + second;
        offset = offset_seconds(time[8..].trim_start_matches(|c: char| c == '.' || c.is_ascii_digit()))?;
    }
    if !(1..=12).contains(&month) || day < 1 || day > days_in(year, month) {
        return None;
    }
    let (mut year, mut month, mut day) = (year, month, day);
    let mut seconds = seconds - offset;
    // An offset is less than a day.
    if seconds < 0 {
        seconds += 86_400;
        day -= 1;
        if day == 0 {
            month -= 1;
            if month == 0 {
                (year, month) = (year - 1, 12);
            }
            day = days_in(year, month);
        }
    } else if seconds >= 86_400 {
        seconds -= 86_400;
        day += 1;
        if day > days_in(year, month) {
            (month, day) = (month + 1, 1);
            if month == 13 {
                (year, month) = (year + 1, 1);
            }
        }
    }
    if !(0..=9999).contains(&year) {
        return None;
    }
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    Some(format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z"))
}

/// Three numbers of so many digits each.
fn fields(text: &str, separator: char, digits: [usize; 3]) -> Option<[i32; 3]> {
    let mut parts = text.split(separator);
    let mut numbers = [0; 3];
    for (number, digits) in numbers.iter_mut().zip(digits) {
        let part =
            parts.next().filter(|part| part.len() == digits && part.bytes().all(|b| b.is_ascii_digit()))?;
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(numbers)
}

fn offset_seconds(text: &str) -> Option<i32> {
    let (sign, rest) = match text.as_bytes().first() {
        None | Some(b'Z' | b'z') => return (text.len() < 2).then_some(0),
        Some(b'+') => (1, &text[1..]),
        Some(b'-') => (-1, &text[1..]),
        Some(_) => return None,
    };
    let digits: String = rest.chars().filter(|c| *c != ':').collect();
    if digits.len() != 4 || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes): (i32, i32) = (digits[..2].parse().ok()?, digits[2..].parse().ok()?);
    (hours < 24 && minutes < 60).then_some(sign * (hours * 3600 + minutes * 60))
}

fn days_in(year: i32, month: i32) -> i32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn basic_times_are_utc_and_whole_seconds() {
        for (extended, expected) in [
            ("2024-06-28T09:36:31Z", "20240628T093631Z"),
            ("2024-06-28t09:36:31.123456z", "20240628T093631Z"),
            ("2024-06-28 09:36:31", "20240628T093631Z"),
            ("2024-06-28", "20240628T000000Z"),
            ("2024-03-01T00:30:00+09:00", "20240229T153000Z"),
            ("2023-03-01T00:30:00+0900", "20230228T153000Z"),
            ("2024-01-01T00:30:00+01:00", "20231231T233000Z"),
            ("2023-12-31T23:30:00-01:00", "20240101T003000Z"),
            ("2024-02-29T23:59:59-23:59", "20240301T235859Z"),
        ] {
            assert_eq!(basic(extended).as_deref(), Some(expected), "{extended}");
        }
    }

    #[test]
    fn what_is_no_time_has_no_basic_form() {
        for text in [
            "",
            "2024",
            "2024-06",
            "2023-02-29",
            "2024-13-01",
            "2024-06-28T",
            "2024-06-28T24:00:00Z",
            "2024-06-28T09:36:31+",
            "2024-06-28T09:36:31 UTC",
            "28.06.2024",
            "0000-01-01T00:00:00+09:00",
            "2024-06-28T09:36:31+99:00",
            "２０２４-06-28",
        ] {
            assert_eq!(basic(text), None, "{text}");
        }
    }

    #[test]
    fn the_extended_form_comes_back() {
        assert_eq!(extended("20240628T093631Z").as_deref(), Some("2024-06-28T09:36:31Z"));
        assert_eq!(basic("2024-06-28T09:36:31Z").as_deref(), Some("20240628T093631Z"));
        for text in ["", "20240628", "20240628T093631", "20240628T0936ZZZ", "２024628T093631Z"] {
            assert_eq!(extended(text), None, "{text}");
        }
    }
}
