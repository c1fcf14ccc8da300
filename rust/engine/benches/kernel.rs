//! The kernels of a search on one block of rows, and whole searches of a generated memory.

use std::fmt::Write;
use std::sync::LazyLock;

use diglot_engine::{Batch, Control, EntryRef, Filter, KernelBlock, Memory, SearchOptions};
use divan::counter::ItemsCount;
use divan::{Bencher, black_box};

fn main() {
    divan::main();
}

/// Rows in a block.
const BLOCK: usize = 1 << 15;

/// Items are rows times bitmaps.
fn scan(bencher: Bencher<'_, '_>, version: &str, bitmaps: usize) {
    let mut block = KernelBlock::new(bitmaps, 0, 0);
    bencher
        .counter(ItemsCount::new(BLOCK * bitmaps))
        .bench_local(|| black_box(&mut block).scan_with(version));
}

#[divan::bench(args = KernelBlock::versions())]
fn scan_8_bitmaps(bencher: Bencher<'_, '_>, version: &str) {
    scan(bencher, version, 8);
}

#[divan::bench(args = KernelBlock::versions())]
fn scan_32_bitmaps(bencher: Bencher<'_, '_>, version: &str) {
    scan(bencher, version, 32);
}

#[divan::bench(args = KernelBlock::versions())]
fn scan_64_bitmaps(bencher: Bencher<'_, '_>, version: &str) {
    scan(bencher, version, 64);
}

/// Lists of so many rows each, 20,000 rows in all, and an empty scan.
#[divan::bench(args = [10, 100, 1000])]
fn add_lists(bencher: Bencher<'_, '_>, len: usize) {
    let mut block = KernelBlock::new(0, 20_000 / len, len);
    bencher.counter(ItemsCount::new(20_000usize)).bench_local(|| black_box(&mut block).add());
}

/// 200,000 distinct sources of 2 to 12 words, of which few are common and many rare, in 50 namespaces.
static MEMORY: LazyLock<Memory> = LazyLock::new(|| {
    let mut state = 1u64;
    let mut random = move |limit: u64| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) % limit
    };
    let mut batch = Batch::new();
    for at in 0..200_000 {
        let mut source = String::new();
        for _ in 0..2 + random(11) {
            // Squared, so that low numbers are common.
            let word = random(90) * random(90) * 7919;
            write!(source, "{word:x} ").expect("strings take anything");
        }
        write!(source, "{at}").expect("strings take anything");
        let namespace = format!("project {}", at % 50);
        let entry = EntryRef {
            source: &source,
            target: "target",
            namespace: Some(&namespace),
            ..EntryRef::default()
        };
        batch.push(entry).expect("a good entry");
    }
    let memory = Memory::new();
    memory.publish(batch.prepare(Control::NONE).expect("nobody stops it")).expect("there are ids");
    memory
});

/// A source of the memory, one near to many, a long one and one near to none.
const QUERIES: [&str; 4] = ["exact", "near", "long", "unlike"];

fn query(name: &str) -> String {
    match name {
        "exact" => MEMORY.snapshot().get(100_000).expect("an entry").source.to_owned(),
        "near" => format!("{:x} {:x} {:x} open", 30 * 7919, 42 * 7919, 1200 * 7919),
        "long" => (0..80).map(|word| format!("{:x} ", word * word * 7919)).collect(),
        _ => "qqqq wwww zzzz".to_owned(),
    }
}

fn search(bencher: Bencher<'_, '_>, name: &str, filter: Filter) {
    let query = query(name);
    let options = SearchOptions { filter, ..SearchOptions::default() };
    bencher.bench_local(|| {
        MEMORY.search(black_box(&query), &options, Control::NONE).map(|found| found.hits().len())
    });
}

#[divan::bench(args = QUERIES)]
fn search_all(bencher: Bencher<'_, '_>, name: &str) {
    search(bencher, name, Filter::default());
}

#[divan::bench(args = QUERIES)]
fn search_one_namespace(bencher: Bencher<'_, '_>, name: &str) {
    search(bencher, name, Filter { namespace: Some("project 7".into()), ..Filter::default() });
}
