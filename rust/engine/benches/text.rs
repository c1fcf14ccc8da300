//! The kernels of text analysis on short, long and typical texts of several scripts.

use diglot_engine::text;
use divan::counter::CharsCount;
use divan::{Bencher, black_box};

const SHORT: &str = "Save As...";
const ENGLISH: &str =
    "The selected file could not be opened because it is locked by another process (error code %d).";
const GERMAN: &str =
    "Die ausgewählte Datei konnte nicht geöffnet werden, da sie größer als der Speicher ist – prüfen …";
const CHINESE: &str = "无法打开所选文件，因为它已被另一个进程（错误代码 %d）锁定；请关闭该程序后重试。";
const KOREAN: &str = "선택한 파일이 다른 프로세스에 의해 잠겨 있어 열 수 없습니다(오류 코드 %d).";
const GREEK: &str = "Ο ΦΑΚΕΛΟΣ ΔΕΝ ΥΠΑΡΧΕΙ Ή ΔΕΝ ΕΙΝΑΙ ΠΡΟΣΒΑΣΙΜΟΣ";
const UNTIDY: &str = "  The first line\n    and the second one,\tindented.\r\n\r\n  The last paragraph.  ";

const TEXTS: [(&str, &str); 7] = [
    ("short", SHORT),
    ("english", ENGLISH),
    ("german", GERMAN),
    ("chinese", CHINESE),
    ("korean", KOREAN),
    ("greek", GREEK),
    ("untidy", UNTIDY),
];

fn main() {
    divan::main();
}

/// One of the texts above, or twenty copies of the English one.
fn named(name: &str) -> String {
    TEXTS.iter().find(|text| text.0 == name).map_or_else(|| ENGLISH.repeat(20), |text| text.1.into())
}

fn names() -> impl Iterator<Item = &'static str> {
    TEXTS.iter().map(|text| text.0).chain(["long"])
}

#[divan::bench(args = names())]
fn normalize_into(bencher: Bencher<'_, '_>, name: &str) {
    let text = named(name);
    let mut normalized = String::new();
    bencher.counter(CharsCount::of_str(&text)).bench_local(|| {
        normalized.clear();
        text::normalize_into(black_box(&text), &mut normalized);
    });
}

#[divan::bench(args = names())]
fn tokens(bencher: Bencher<'_, '_>, name: &str) {
    let normalized = text::normalize(&named(name));
    bencher
        .counter(CharsCount::of_str(&normalized))
        .bench_local(|| text::tokens(black_box(&normalized)).map(str::len).sum::<usize>());
}

#[divan::bench(args = names())]
fn trigrams(bencher: Bencher<'_, '_>, name: &str) {
    let normalized = text::normalize(&named(name));
    bencher
        .counter(CharsCount::of_str(&normalized))
        .bench_local(|| text::trigrams(black_box(&normalized)).map(str::len).sum::<usize>());
}

/// With the same text less its last character, which shares nearly everything.
#[divan::bench(args = names())]
fn similarity(bencher: Bencher<'_, '_>, name: &str) {
    let normalized = text::normalize(&named(name));
    let mut other = normalized.clone();
    other.pop();
    bencher
        .counter(CharsCount::of_str(&normalized))
        .bench_local(|| text::similarity(black_box(&normalized), black_box(&other)));
}
