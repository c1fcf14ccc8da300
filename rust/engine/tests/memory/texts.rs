//! Texts that are hard to tell apart.

use crate::model::Entry;
use diglot_engine::{Filter, SearchOptions};

/// A small generator of random numbers (splitmix64), the same on every machine.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// True once in so many times.
    pub(crate) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}

const WORDS: [&str; 24] = [
    "save",
    "file",
    "files",
    "the",
    "a",
    "open",
    "opened",
    "Error",
    "ERROR",
    "network",
    "not",
    "could",
    "item",
    "it",
    "i",
    "naïve",
    "naı\u{308}ve",
    "Straße",
    "STRASSE",
    "ﬁle",
    "ＡＢＣ",
    "x²",
    "%d",
    "…",
];
const CJK: [char; 16] =
    ['保', '存', '文', '件', '取', '消', '打', '开', '開', 'を', 'フ', 'ァ', '가', '각', '𠮷', '。'];
const MARKS: [&str; 10] =
    ["e\u{301}", "é", "हि", "न्दी", "ไทย", "\u{1112}\u{1161}\u{11ab}", "한", "a\u{20dd}", "\u{301}", "ক্ষ"];
const SINGLE: [&str; 14] =
    ["a", "A", "b", "1", "?", "—", "😀", "보", "存", "ß", "\u{301}", "ﷺ", "İ", "\u{200b}"];
const GAPS: [&str; 6] = [" ", " ", " ", "  ", ", ", "\u{3000}"];

/// A text that shares much with others; `earlier` are texts to start from.
pub(crate) fn text(random: &mut Random, earlier: &[&str]) -> String {
    match random.below(16) {
        0..6 if !earlier.is_empty() => {
            let start = random.pick(earlier);
            edited(random, start)
        }
        0..8 => words(random, 8),
        8 => (0..1 + random.below(12)).map(|_| random.pick(&CJK)).collect(),
        9 => (0..1 + random.below(6)).map(|_| random.pick(&MARKS)).collect(),
        10 => random.pick(&SINGLE).to_owned(),
        11 => random.pick(&["ab", "ab", "aab", "...", "?!", "- -", "a b", "%d"]).repeat(1 + random.below(4)),
        12 => random.pick(&["a", "ab", "xyz", "存", "no "]).repeat(1 + random.below(30)),
        13 => {
            let mut all = words(random, 4);
            all.insert_str(0, random.pick(&["\t", "\u{feff}", "  ", ""]));
            all + random.pick(&[".", "!", "…", " \n", ""])
        }
        _ => format!("item {}", random.below(50)),
    }
}

/// Up to so many words.
pub(crate) fn words(random: &mut Random, most: usize) -> String {
    let mut all = String::new();
    for at in 0..1 + random.below(most) {
        if at > 0 {
            all.push_str(random.pick(&GAPS));
        }
        all.push_str(random.pick(&WORDS));
    }
    all
}

/// A text that is not blank, a few characters away from another.
pub(crate) fn edited(random: &mut Random, text: &str) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    for _ in 0..1 + random.below(3) {
        let len = chars.len();
        let at = random.below(len + 1);
        match random.below(6) {
            0 if at < len => _ = chars.remove(at),
            1 => chars.insert(at, random.pick(&['x', ' ', 'e', '\u{301}', '存', 'A'])),
            2 if at < len => chars[at] = random.pick(&['y', 'E', '1', ' ', '件']),
            3 => chars = chars.iter().flat_map(|c| c.to_uppercase()).collect(),
            4 => chars.rotate_left(at),
            _ => {}
        }
    }
    let text: String = chars.into_iter().collect();
    if diglot_engine::text::normalize(&text).is_empty() { "e".to_owned() } else { text }
}

/// A text of thousands of characters: with more than 255 distinct features, or with one trigram again and again.
pub(crate) fn long(random: &mut Random, chars: usize) -> String {
    let mut text = String::new();
    let unit = random.pick(&["a", "ab ", "存", "the file "]);
    let repeated = random.once_in(2);
    let mut count = 0;
    while count < chars {
        let start = text.len();
        if repeated {
            text.push_str(unit);
        } else {
            text.push_str(&format!("{:x} ", random.below(1 << 12)));
        }
        count += text[start..].chars().count();
    }
    text
}

const LANGUAGES: [Option<&str>; 7] =
    [None, Some("en"), Some("EN"), Some("en-US"), Some("ko"), Some("zh-Hant"), Some("")];
const ASKED_LANGUAGES: [&str; 8] = ["en", "En", "EN-us", "KO", "zh-hant", "", "fr", "en-"];
const DOMAINS: [Option<&str>; 5] = [None, Some("ui"), Some("UI"), Some("legal"), Some("")];
const NAMESPACES: [Option<&str>; 6] = [None, Some("a"), Some("a"), Some("a"), Some("b"), Some("")];

/// An entry with some of the optional fields.
pub(crate) fn entry(random: &mut Random, source: String) -> Entry {
    let owned = |value: Option<&str>| value.map(str::to_owned);
    let sometimes =
        |random: &mut Random, name: &str| random.once_in(3).then(|| format!("{name} {}", random.below(9)));
    Entry {
        target: format!("target {}", random.below(1000)),
        source,
        source_language: owned(random.pick(&LANGUAGES)),
        target_language: owned(random.pick(&LANGUAGES)),
        domain: owned(random.pick(&DOMAINS)),
        namespace: if random.once_in(20) {
            Some(format!("tenant {}", random.below(100)))
        } else {
            owned(random.pick(&NAMESPACES))
        },
        source_id: sometimes(random, "file"),
        created_at: sometimes(random, "2026"),
        notes: sometimes(random, ""),
        metadata: sometimes(random, "{}"),
    }
}

/// A filter on any of the four fields, or none.
pub(crate) fn filter(random: &mut Random) -> Filter {
    let mut filter = Filter::default();
    if random.once_in(3) {
        return filter;
    }
    let one_only = random.once_in(2).then(|| random.below(4));
    let mut wanted = |field: usize| one_only.map_or_else(|| random.once_in(3), |only| only == field);
    let fields = [wanted(0), wanted(1), wanted(2), wanted(3)];
    if fields[0] {
        filter.source_language = Some(random.pick(&ASKED_LANGUAGES).to_owned());
    }
    if fields[1] {
        filter.target_language = Some(random.pick(&ASKED_LANGUAGES).to_owned());
    }
    if fields[2] {
        filter.domain = Some(random.pick(&["ui", "UI", "Ui", "legal", ""]).to_owned());
    }
    if fields[3] {
        let tenant = format!("tenant {}", random.below(110));
        filter.namespace = Some(random.pick(&["a", "a", "A", "b", "", &tenant]).to_owned());
    }
    filter
}

/// Options of a search in a memory of so many entries.
pub(crate) fn options(random: &mut Random, entries: usize) -> SearchOptions {
    let max_hits = match random.below(8) {
        0 => 1,
        1 => 2 + random.below(30),
        2 => entries.max(1),
        3 => entries + 1 + random.below(10),
        4 => 1 + random.below(entries.max(1)),
        5 => usize::MAX,
        _ => 5,
    };
    let min_score = match random.below(8) {
        0 => 0.0,
        1 => f64::MIN_POSITIVE,
        2 => 1.0,
        3 => random.below(1001) as f64 / 1000.0,
        4 => random.pick(&[0.5, 1.0 / 3.0, 2.0 / 3.0, 0.4, 0.8]),
        _ => 0.2,
    };
    SearchOptions { filter: filter(random), max_hits, min_score }
}
