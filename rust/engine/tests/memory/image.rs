//! Snapshots as files: what was saved is what is opened, and nothing else is.

use std::fs;
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use diglot_engine::image::{self, Error, Unusable};
use diglot_engine::{Control, EntryId, Filter, Memory, SearchOptions, Snapshot};
use proptest::prelude::ProptestConfig;
use xxhash_rust::xxh3::xxh3_64;

use crate::model::{Entry, Model, options, prepared};
use crate::texts::{self, Random};

const HEAD: usize = 24;
const TAIL: usize = 16;
const PIECE: usize = 1 << 20;

/// A directory that is removed when dropped.
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new() -> Directory {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("image-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        // In memory where that is to be had: the tests write thousands of files, and the disk has nothing to do with it.
        let base = [Path::new("/dev/shm"), Path::new(env!("CARGO_TARGET_TMPDIR"))];
        let path = base.into_iter().find(|base| base.is_dir()).unwrap().join(name);
        fs::create_dir(&path).unwrap();
        Directory(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("memory.image")
    }

    /// The names of the files in it.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        _ = fs::remove_dir_all(&self.0);
    }
}

/// The one memory that a file holds, and its tag.
fn open(path: &Path, control: Control<'_>) -> Result<(Memory, Vec<u8>), Error> {
    let (mut memories, tag) = image::open(path, 1, control)?;
    Ok((memories.pop().unwrap(), tag))
}

/// The memory that a file of this one holds.
pub(crate) fn reopened(memory: &Memory, tag: &[u8]) -> Memory {
    let directory = Directory::new();
    image::save(&[&memory.snapshot()], &directory.file(), tag, None, Control::NONE).unwrap();
    let (opened, found) = open(&directory.file(), Control::NONE).unwrap();
    assert_eq!(found, tag);
    opened.internal_validate();
    opened
}

/// The bytes of a file of this memory.
fn bytes(memory: &Memory, tag: &[u8]) -> Vec<u8> {
    let directory = Directory::new();
    image::save(&[&memory.snapshot()], &directory.file(), tag, None, Control::NONE).unwrap();
    fs::read(directory.file()).unwrap()
}

/// What comes of opening a file with these bytes.
fn opened(directory: &Directory, bytes: &[u8]) -> Result<Memory, Error> {
    fs::write(directory.file(), bytes).unwrap();
    Ok(open(&directory.file(), Control::NONE)?.0)
}

fn unusable(directory: &Directory, bytes: &[u8]) -> Option<Unusable> {
    match opened(directory, bytes) {
        Ok(_) => None,
        Err(Error::Unusable(why)) => Some(why),
        Err(other) => panic!("{other:?}"),
    }
}

/// A memory with all that a file can hold: several segments whose ids mingle, lists and bitmaps in the indexes, every
/// optional field, removed entries, and live ones.
fn sample() -> (Memory, Model) {
    let (memory, mut model) = (Memory::new(), Model::default());
    let random = &mut Random::new(5);
    let common: Vec<Entry> =
        (0..1100).map(|at| texts::entry(random, format!("all the files {at}"))).collect();
    let others: Vec<Entry> = (0..300)
        .map(|_| {
            let source = texts::text(random, &[]);
            texts::entry(random, source)
        })
        .collect();
    for batch in [common, others] {
        memory.publish(prepared(&batch)).unwrap();
        batch.into_iter().for_each(|entry| _ = model.add(entry));
    }
    for at in 0..300 {
        let id = model.id_at(at * 7).unwrap();
        if at % 3 == 0 {
            memory.remove(&[id]).unwrap();
            model.remove(id);
        } else {
            let entry = texts::entry(random, format!("replaced {at}"));
            memory.replace(id, entry.borrowed()).unwrap();
            model.replace(id, entry);
        }
    }
    (memory, model)
}

fn check(memory: &Memory, model: &mut Model) {
    let random = &mut Random::new(6);
    model.check_all(memory);
    for query in ["all the files 77", "the files", "replaced 8", "zzzz", "保存文件"] {
        let scores = model.scores(query);
        model.check(memory, &scores, &SearchOptions::default());
        for _ in 0..10 {
            model.check(memory, &scores, &texts::options(random, model.len()));
        }
    }
}

#[test]
fn what_is_opened_is_what_was_saved() {
    let (memory, mut model) = sample();
    let opened = reopened(&memory, b"tag");
    check(&opened, &mut model);
    // And again, from what was opened, with changes in between.
    let random = &mut Random::new(8);
    let entries: Vec<Entry> = (0..700).map(|at| texts::entry(random, format!("later {at}"))).collect();
    let ids = opened.publish(prepared(&entries)).unwrap();
    assert!(ids.eq(entries.into_iter().map(|entry| model.add(entry))));
    let single = texts::entry(random, "later and alone".to_owned());
    assert_eq!(opened.add(single.borrowed()), Ok(model.add(single)));
    let gone: Vec<EntryId> = model.ids().into_iter().filter(|id| id % 3 != 0).collect();
    opened.remove(&gone).unwrap();
    gone.into_iter().for_each(|id| model.remove(id));
    check(&reopened(&opened, b""), &mut model);
    opened.settle();
    check(&opened, &mut model);
}

#[test]
fn a_file_is_the_same_each_time() {
    let (memory, _) = sample();
    // Live entries become a segment on their way.
    let saved = bytes(&reopened(&memory, b""), b"tag");
    let again = bytes(&reopened(&reopened(&memory, b""), b""), b"tag");
    assert!(saved == again);
    let settled = memory.stats();
    let opened = reopened(&memory, b"").stats();
    assert_eq!((opened.entries, opened.live), (settled.entries, 0));
}

#[test]
fn sizes_are_as_before() {
    let memory = Memory::new();
    let random = &mut Random::new(2);
    let entries: Vec<Entry> = (0..3000).map(|at| texts::entry(random, format!("entry {at}"))).collect();
    memory.publish(prepared(&entries)).unwrap();
    memory.remove(&[5, 7]).unwrap();
    memory.settle();
    assert_eq!(reopened(&memory, b"").stats(), memory.stats());
}

#[test]
fn empty_memories_and_any_tag() {
    let memory = Memory::new();
    for tag in [&b""[..], b"t", &[0; 100_000]] {
        assert_eq!(reopened(&memory, tag).len(), 0);
    }
    memory.publish(prepared(&[Entry::new("a", "b")])).unwrap();
    memory.remove(&[0]).unwrap();
    let opened = reopened(&memory, b"");
    assert_eq!((opened.len(), opened.snapshot().next_id()), (0, 1), "ids are not given twice");
    assert_eq!(opened.add(Entry::new("a", "b").borrowed()), Ok(1));
}

#[test]
fn several_memories_in_one_file() {
    let directory = Directory::new();
    let (memory, mut model) = sample();
    let other = Memory::new();
    other.publish(prepared(&[Entry::new("another memory", "t")])).unwrap();
    let snapshots = [&memory, &Memory::new(), &other].map(Memory::snapshot);
    let snapshots: Vec<&Snapshot> = snapshots.iter().map(AsRef::as_ref).collect();
    image::save(&snapshots, &directory.file(), b"tag", None, Control::NONE).unwrap();
    let (opened, tag) = image::open(&directory.file(), 3, Control::NONE).unwrap();
    assert_eq!(tag, b"tag");
    check(&opened[0], &mut model);
    assert!(opened[1].is_empty());
    assert_eq!(opened[2].snapshot().get(0).unwrap().source, "another memory");
    for count in [0, 1, 2, 4] {
        let failure = image::open(&directory.file(), count, Control::NONE).err();
        assert!(matches!(failure, Some(Error::Unusable(Unusable::Damaged { .. }))), "{count}: {failure:?}");
    }
}

/// A file, taken apart.
#[derive(Clone)]
struct Image {
    head: Vec<u8>,
    columns: Vec<Vec<u8>>,
    tag: Vec<u8>,
    numbers: Vec<u64>,
}

fn number(bytes: &[u8], at: &mut usize) -> u64 {
    *at += 8;
    u64::from_ne_bytes(bytes[*at - 8..*at].try_into().unwrap())
}

fn numbers(bytes: &[u8], at: &mut usize) -> Vec<u64> {
    (0..number(bytes, at)).map(|_| number(bytes, at)).collect()
}

impl Image {
    fn of(file: &[u8]) -> Image {
        let table_length = number(file, &mut (file.len() - TAIL)) as usize;
        let table_start = file.len() - TAIL - table_length;
        let mut at = table_start;
        let tag_length = number(file, &mut at) as usize;
        let tag = file[at..at + tag_length].to_vec();
        at += tag_length;
        let (numbers, lengths) = (numbers(file, &mut at), self::numbers(file, &mut at));
        let mut start = HEAD;
        let columns = lengths
            .into_iter()
            .map(|length| {
                start += length as usize;
                file[start - length as usize..start].to_vec()
            })
            .collect();
        assert_eq!(start, table_start);
        Image { head: file[..HEAD].to_vec(), columns, tag, numbers }
    }

    /// Where the parts of the file end.
    fn edges(&self) -> Vec<usize> {
        let mut edges = vec![8, 12, 16, HEAD];
        for column in &self.columns {
            edges.push(edges[edges.len() - 1] + column.len());
        }
        let size = self.file().len();
        edges.extend([size - TAIL, size - 8, size]);
        edges
    }

    /// The file, with the right checksums.
    fn file(&self) -> Vec<u8> {
        let list = |numbers: &[u64]| {
            let count = numbers.len() as u64;
            std::iter::once(&count).chain(numbers).flat_map(|number| number.to_ne_bytes()).collect::<Vec<_>>()
        };
        let lengths: Vec<u64> = self.columns.iter().map(|column| column.len() as u64).collect();
        let sums: Vec<u64> =
            self.columns.iter().flat_map(|column| column.chunks(PIECE)).map(xxh3_64).collect();
        let tag_length = (self.tag.len() as u64).to_ne_bytes();
        let table =
            [&tag_length[..], &self.tag, &list(&self.numbers), &list(&lengths), &list(&sums)].concat();
        let sum = xxh3_64(&[&self.head[..], &table].concat());
        let tail = [(table.len() as u64).to_ne_bytes(), sum.to_ne_bytes()].concat();
        [&self.head[..], &self.columns.concat(), &table, &tail].concat()
    }
}

fn overwrite(directory: &Directory, place: usize, bytes: &[u8]) {
    let mut file = fs::OpenOptions::new().write(true).open(directory.file()).unwrap();
    file.seek(SeekFrom::Start(place as u64)).unwrap();
    file.write_all(bytes).unwrap();
}

#[test]
fn damage_of_any_kind_is_found() {
    let directory = Directory::new();
    let (memory, _) = sample();
    let good = bytes(&memory, b"tag");
    let image = Image::of(&good);
    assert!(image.file() == good, "the test knows the format");
    assert_eq!(unusable(&directory, &good), None);
    let random = &mut Random::new(9);
    let cases = ProptestConfig::default().cases as usize;

    let edges = image.edges();
    let near = |edge: &usize| (edge - 1)..=(edge + 1);
    let random_sizes: Vec<usize> = (0..cases).map(|_| random.below(good.len())).collect();
    for size in edges.iter().flat_map(near).chain([0, 1]).chain(random_sizes) {
        let mut bytes = good.clone();
        bytes.resize(size, 0);
        assert_eq!(unusable(&directory, &bytes).is_some(), size != good.len(), "{size} bytes");
    }

    assert_eq!(unusable(&directory, &good), None);
    let random_places: Vec<usize> = (0..4 * cases).map(|_| random.below(good.len())).collect();
    for place in edges.iter().flat_map(near).filter(|place| *place < good.len()).chain(random_places) {
        let mut byte = [good[place]];
        byte[0] ^= 1 << random.below(8);
        overwrite(&directory, place, &byte);
        let failure = open(&directory.file(), Control::NONE).err();
        assert!(matches!(failure, Some(Error::Unusable(_))), "a bit of byte {place}: {failure:?}");
        overwrite(&directory, place, &good[place..=place]);
    }

    // What disks and crashes do to whole pages.
    for page in 0..good.len() / 4096 {
        let mut bytes = good.clone();
        bytes[page * 4096..(page + 1) * 4096].fill(0);
        assert!(bytes == good || unusable(&directory, &bytes).is_some(), "page {page} of zeros");
        let mut bytes = good.clone();
        bytes.copy_within(page * 4096..(page + 1) * 4096, page * 4096 / 2);
        assert!(bytes == good || unusable(&directory, &bytes).is_some(), "page {page} in another place");
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let directory = Directory::new();
    let good = bytes(&sample().0, b"tag");
    let with = |at: usize, part: &[u8]| {
        let mut bytes = good.clone();
        bytes[at..at + part.len()].copy_from_slice(part);
        unusable(&directory, &bytes).unwrap()
    };
    assert_eq!(unusable(&directory, b""), Some(Unusable::Foreign));
    assert_eq!(unusable(&directory, b"SQLite format 3\0 and so on and so forth"), Some(Unusable::Foreign));
    assert_eq!(with(0, b"DIGLOT"), Unusable::Foreign);
    let mut order = good[8..12].to_vec();
    order.reverse();
    assert_eq!(with(8, &order), Unusable::ByteOrder);
    assert_eq!(with(12, &7u32.to_ne_bytes()), Unusable::Version { found: 7 });
    assert_eq!(with(16, &[0; 8]), Unusable::Analysis);
    let damaged = |what| Unusable::Damaged { what };
    assert_eq!(unusable(&directory, &good[..10]), Some(damaged("it ends too early")));
    assert_eq!(with(5000, b"another text"), damaged("a checksum is wrong"));
    for (why, text) in [
        (Unusable::Foreign, "it is no snapshot of a memory"),
        (Unusable::Version { found: 7 }, "it has version 7 of the format; version 1 is needed"),
        (damaged("a checksum is wrong"), "it is damaged: a checksum is wrong"),
    ] {
        assert_eq!(why.to_string(), text);
    }

    fs::remove_file(directory.file()).unwrap();
    let missing = open(&directory.file(), Control::NONE).err().unwrap();
    assert!(matches!(missing, Error::Io(failure) if failure.kind() == ErrorKind::NotFound));
    fs::create_dir(directory.file()).unwrap();
    assert!(matches!(open(&directory.file(), Control::NONE), Err(Error::Io(_))));
    let snapshot = Memory::new().snapshot();
    assert!(matches!(
        image::save(&[&snapshot], &directory.file(), b"", None, Control::NONE),
        Err(Error::Io(_))
    ));
    let nowhere = directory.0.join("nowhere").join("memory.image");
    assert!(matches!(image::save(&[&snapshot], &nowhere, b"", None, Control::NONE), Err(Error::Io(_))));
    assert_eq!(directory.names(), ["memory.image"], "nothing is left behind");
}

/// Whether a thread of a memory panicked, which nobody else would notice.
fn background_panicked() -> bool {
    static PANICKED: AtomicBool = AtomicBool::new(false);
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if thread::current().name().is_some_and(|name| name.starts_with("diglot-")) {
                PANICKED.store(true, Ordering::SeqCst);
            }
            before(info);
        }));
    });
    PANICKED.load(Ordering::SeqCst)
}

/// Changes a file in one place in a way that its checksums do not tell.
fn forge(image: &mut Image, random: &mut Random) {
    let column = random.below(image.columns.len());
    let other = random.below(image.columns.len());
    let size = random.pick(&[1, 2, 4, 8]);
    match random.below(12) {
        0 => {
            let place = random.below(image.numbers.len());
            let number = image.numbers[place];
            image.numbers[place] = random.pick(&[0, 1, number + 1, number - 1, 1 << 40, u64::MAX]);
        }
        1 => image.columns.swap(column, other),
        2 => image.columns[column].clear(),
        3 => {
            let column = &mut image.columns[column];
            column.truncate(column.len().saturating_sub(size));
        }
        4 => {
            let column = &mut image.columns[column];
            column.extend_from_within(column.len() - size.min(column.len())..);
        }
        5 => {
            image.columns.remove(column);
        }
        _ => {
            let items = image.columns[column].len() / size;
            if items == 0 {
                return;
            }
            for _ in 0..random.pick(&[1, 1, 3]) {
                let place = random.below(items) * size;
                let other = random.below(items) * size;
                let bytes = &mut image.columns[column];
                let mut value = [0; 8];
                value[..size].copy_from_slice(&bytes[place..place + size]);
                let value = u64::from_le_bytes(value);
                let most = u64::MAX >> (64 - 8 * size);
                let copied = bytes[other];
                let new = match random.below(8) {
                    0 => 0,
                    1 => most,
                    2 => most - 1,
                    3 => value.wrapping_add(1),
                    4 => value.wrapping_sub(1),
                    5 => value ^ 1 << random.below(8 * size),
                    6 => u64::from(copied),
                    _ => random.next(),
                };
                bytes[place..place + size].copy_from_slice(&new.to_le_bytes()[..size]);
            }
        }
    }
}

/// Uses all that a memory has, whatever it answers.
fn use_all(memory: &Memory, random: &mut Random) {
    let namespace = |name: &str| Filter { namespace: Some(name.into()), ..Filter::default() };
    let language = Filter { target_language: Some("ko".into()), ..Filter::default() };
    let snapshot = memory.snapshot();
    for query in ["all the files 77", "files", "保存文件", "zzzz"] {
        for options in [
            SearchOptions::default(),
            options(1, 1.0, Filter::default()),
            options(5000, 0.0, Filter::default()),
            options(5, 0.2, namespace("a")),
            options(500, 0.0, language.clone()),
        ] {
            let found = memory.search(query, &options, Control::NONE).unwrap();
            found.entries().for_each(drop);
            found.coverage(query);
        }
    }
    let mut ids = Vec::new();
    for (id, entry) in snapshot.entries(0) {
        assert_eq!(snapshot.get(id), Some(entry), "an entry is where its id says");
        snapshot.equal(entry.source);
        ids.push(id);
    }
    memory.stats();
    let entry = Entry::new("all the files", "another");
    _ = memory.add(entry.borrowed());
    if let Some(id) = ids.first() {
        memory.replace(*id, entry.borrowed()).unwrap();
    }
    bytes(memory, b"");
    // Enough for what is left to be put together anew.
    ids.retain(|_| !random.once_in(5));
    memory.remove(&ids).unwrap();
    memory.settle();
    assert!(!background_panicked());
}

#[test]
fn forged_files_are_refused_or_harmless() {
    background_panicked();
    let directory = Directory::new();
    let (memory, _) = sample();
    let good = Image::of(&bytes(&memory, b"tag"));
    let random = &mut Random::new(12);
    let (mut refused, mut harmless) = (0, 0);
    for _ in 0..2 * ProptestConfig::default().cases {
        let mut image = good.clone();
        forge(&mut image, random);
        match opened(&directory, &image.file()) {
            Ok(memory) => {
                use_all(&memory, random);
                harmless += 1;
            }
            Err(Error::Unusable(Unusable::Damaged { .. })) => refused += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    assert!(refused > 0 && harmless > 0, "{refused} refused, {harmless} harmless");
}

#[test]
fn a_table_that_promises_much_costs_little() {
    let directory = Directory::new();
    let mut image = Image::of(&bytes(&sample().0, b"tag"));
    image.numbers[1] = u64::MAX;
    assert!(unusable(&directory, &image.file()).is_some());
    let good = image.file();
    for lie in [1u64 << 40, u64::MAX, u64::MAX / 8, 1 << 61] {
        // The length of the table, of the tag, and of the list of numbers.
        let table = good.len() - TAIL - number(&good, &mut (good.len() - TAIL)) as usize;
        for place in [good.len() - TAIL, table, table + 8 + 3] {
            let mut bytes = good.clone();
            bytes[place..place + 8].copy_from_slice(&lie.to_ne_bytes());
            let end = bytes.len();
            let sum = xxh3_64(&[&bytes[..HEAD], &bytes[table..end - TAIL]].concat());
            bytes[end - 8..].copy_from_slice(&sum.to_ne_bytes());
            assert!(unusable(&directory, &bytes).is_some(), "{lie} at {place}");
        }
    }
}

#[test]
fn saving_goes_on_while_the_memory_changes() {
    const LEN: usize = 700;
    let memory = Memory::new();
    let entries = |version: usize| -> Vec<Entry> {
        (0..LEN).map(|at| Entry::new(format!("text {at}"), version.to_string())).collect()
    };
    memory.publish(prepared(&entries(0))).unwrap();
    let all: Vec<EntryId> = (0..LEN as EntryId).collect();
    let directory = Directory::new();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let savers: Vec<_> = (0..2)
            .map(|saver| {
                let (memory, directory, done) = (&memory, &directory, &done);
                scope.spawn(move || {
                    let own = directory.0.join(format!("image {saver}"));
                    let mut versions = Vec::new();
                    // At least once, however the threads run.
                    while versions.is_empty() || !done.load(Ordering::Relaxed) {
                        // One file of its own, and one that both write.
                        let snapshot = memory.snapshot();
                        for path in [&own, &directory.file()] {
                            image::save(&[&snapshot], path, b"", None, Control::NONE).unwrap();
                            let (opened, _) = open(path, Control::NONE).unwrap();
                            let snapshot = opened.snapshot();
                            let mut targets = snapshot.entries(0).map(|(_, entry)| entry.target);
                            let version = targets.next().unwrap();
                            assert!(targets.all(|target| target == version), "half a change was saved");
                            assert_eq!(snapshot.len(), LEN);
                            if *path == own {
                                versions.push(version.parse::<usize>().unwrap());
                            }
                        }
                    }
                    versions
                })
            })
            .collect();
        for version in 1..=60 {
            assert_eq!(memory.apply(&memory.snapshot(), &all, 0, prepared(&entries(version))), Ok(true));
        }
        done.store(true, Ordering::Relaxed);
        for saver in savers {
            let versions = saver.join().unwrap();
            assert!(versions.is_sorted() && !versions.is_empty());
        }
    });
    let mut names = directory.names();
    names.sort();
    assert_eq!(names, ["image 0", "image 1", "memory.image"]);
}

#[test]
fn stopping_at_every_moment() {
    let directory = Directory::new();
    let (memory, mut model) = sample();
    let snapshot = memory.snapshot();
    image::save(&[&snapshot], &directory.file(), b"old", None, Control::NONE).unwrap();
    let mut moment = 0;
    let polls = AtomicUsize::new(0);
    loop {
        moment += 1;
        polls.store(0, Ordering::Relaxed);
        let stop = || polls.fetch_add(1, Ordering::Relaxed) + 1 >= moment;
        match image::save(&[&snapshot], &directory.file(), b"new", None, Control::new(&stop)) {
            Err(Error::Aborted) => assert_eq!(directory.names(), ["memory.image"]),
            Err(other) => panic!("{other:?}"),
            Ok(()) => break,
        }
        assert_eq!(open(&directory.file(), Control::NONE).unwrap().1, b"old");
    }
    assert!(moment > 20, "it polls");
    let mut moment = 0;
    let opened = loop {
        moment += 1;
        polls.store(0, Ordering::Relaxed);
        let stop = || polls.fetch_add(1, Ordering::Relaxed) + 1 >= moment;
        match open(&directory.file(), Control::new(&stop)) {
            Err(Error::Aborted) => {}
            Err(other) => panic!("{other:?}"),
            Ok((opened, tag)) => {
                assert_eq!(tag, b"new");
                break opened;
            }
        }
    };
    assert!(moment > 20, "it polls");
    check(&opened, &mut model);
}

#[test]
fn what_a_crash_left_behind_is_removed() {
    let directory = Directory::new();
    let names = ["memory.image.x7yZ.new", "memory.image.A1.new"];
    let others = ["memory.image.new", "memory.image.a.b.new", "other.image.x7yZ.new", "memory.image.x7yZ"];
    for name in names.iter().chain(&others) {
        fs::write(directory.0.join(name), "x").unwrap();
    }
    // As if another process were at it.
    let busy = fs::File::create(directory.0.join("memory.image.busy.new")).unwrap();
    busy.lock().unwrap();
    image::save(&[&Memory::new().snapshot()], &directory.file(), b"", None, Control::NONE).unwrap();
    let mut found = directory.names();
    found.sort();
    let mut expected: Vec<&str> =
        others.into_iter().chain(["memory.image", "memory.image.busy.new"]).collect();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[cfg(unix)]
#[test]
fn a_file_is_as_private_as_the_one_it_is_like() {
    use std::os::unix::fs::PermissionsExt;
    let directory = Directory::new();
    let like = directory.0.join("database");
    fs::write(&like, "").unwrap();
    for mode in [0o600, 0o640, 0o666] {
        fs::set_permissions(&like, fs::Permissions::from_mode(mode)).unwrap();
        image::save(&[&Memory::new().snapshot()], &directory.file(), b"", Some(&like), Control::NONE)
            .unwrap();
        let found = fs::metadata(directory.file()).unwrap().permissions().mode();
        assert_eq!(found & 0o777, mode);
    }
    fs::remove_file(&like).unwrap();
    let saved = image::save(&[&Memory::new().snapshot()], &directory.file(), b"", Some(&like), Control::NONE);
    assert!(matches!(saved, Err(Error::Io(_))));
    assert_eq!(directory.names(), ["memory.image"]);
}
