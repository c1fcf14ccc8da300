//! Which column of a table has which field.

use diglot_engine::EntryRef;

use super::{SOURCE, TARGET, field};
use crate::error::{Error, Result, start_of};
use crate::language;
use crate::options::Options;

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// The one that the first row calls so; case does not matter.
    Name(String),
    /// The one with this number; the first is 1.
    Number(usize),
}

/// Where the fields are in a row.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Columns {
    /// How many columns a row has.
    pub(super) width: usize,
    /// The columns of the fields in the order of [`EntryRef::FIELDS`]; that of the target is among `targets`.
    pub(super) fields: [Option<usize>; EntryRef::FIELDS.len()],
    /// The language that the source's column is named for.
    pub(super) source_language: Option<String>,
    /// The columns of the targets, each with the language that it is named for.
    pub(super) targets: Vec<(usize, Option<String>)>,
}

/// What a column may be called besides the name of its field, in lower case and without anything but letters.
const OTHER_NAMES: [(&str, usize); 14] = [
    ("original", SOURCE),
    ("sourcetext", SOURCE),
    ("sourcesegment", SOURCE),
    ("translation", TARGET),
    ("targettext", TARGET),
    ("targetsegment", TARGET),
    ("sourcelang", 2),
    ("sourcelocale", 2),
    ("targetlang", 3),
    ("targetlocale", 3),
    ("id", 6),
    ("note", 8),
    ("comment", 8),
    ("comments", 8),
];

/// Common names of columns that would be language codes otherwise.
const NO_LANGUAGES: [&str; 2] = ["id", "no"];

impl Columns {
    /// Whether the first row of a table names its columns: it does if not all columns are given by their numbers.
    pub(super) fn are_named(options: &Options) -> bool {
        let numbered = |column: &(String, Column)| matches!(column.1, Column::Number(_));
        options.header.unwrap_or(options.columns.is_empty() || !options.columns.iter().all(numbered))
    }

    /// The columns of a table, from its first row, which names them if `names` is true.
    pub(super) fn find(row: &[&str], named: bool, delimiter: u8, options: &Options) -> Result<Columns> {
        let names = if named { row } else { &[] };
        let mut fields = [None; EntryRef::FIELDS.len()];
        if options.columns.is_empty() {
            for (at, name) in names.iter().enumerate() {
                let Some(field) = field_of(name) else { continue };
                let first = *fields[field].get_or_insert(at);
                if first != at && letters(names[first]) == letters(name) {
                    let message = format!(
                        "the columns {} and {} are both called {:?}; say which one it is, by its number",
                        first + 1,
                        at + 1,
                        start_of(name)
                    );
                    return Err(Error::format(1, message));
                }
            }
        } else {
            for (name, column) in &options.columns {
                fields[field(name)?] = Some(place(column, row, named, delimiter)?);
            }
        }
        let language = |at: usize| names.get(at).and_then(|name| language_of(name, options));
        if let (Some(source), Some(target)) = (fields[SOURCE], fields[TARGET]) {
            let targets = vec![(target, language(target))];
            return Ok(Columns { width: row.len(), fields, source_language: language(source), targets });
        }
        if !options.columns.is_empty() {
            let message = "must say which columns are source and target".to_owned();
            return Err(Error::Option { option: "columns", message });
        }
        let mut languages: Vec<(usize, String)> =
            (0..names.len()).filter_map(|at| Some((at, language(at)?))).collect();
        let wanted =
            |tag: &str| options.source_language.as_ref().is_none_or(|range| language::is_in(tag, range));
        let source = languages.iter().position(|(_, tag)| wanted(tag));
        let source = source.filter(|_| fields[SOURCE].or(fields[TARGET]).is_none() && languages.len() > 1);
        let Some(source) = source else { return Err(unnamed(row, named, delimiter)) };
        let (at, tag) = languages.remove(source);
        fields[SOURCE] = Some(at);
        Ok(Columns {
            width: row.len(),
            fields,
            source_language: Some(tag),
            targets: languages.into_iter().map(|(at, tag)| (at, Some(tag))).collect(),
        })
    }
}

/// The field that a column's name stands for.
fn field_of(name: &str) -> Option<usize> {
    let letters = letters(name);
    EntryRef::FIELDS
        .iter()
        .position(|field| field.replace('_', "") == letters)
        .or_else(|| OTHER_NAMES.iter().find(|(other, _)| *other == letters).map(|(_, field)| *field))
}

/// What of a column's name matters.
fn letters(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The language that a column's name is the tag of: a wanted one, or one with a code of two letters.
fn language_of(name: &str, options: &Options) -> Option<String> {
    let name = name.trim();
    let wanted = options.source_language.iter().chain(&options.target_languages);
    if wanted.into_iter().any(|tag| language::same(tag, name)) {
        return Some(name.to_owned());
    }
    let mut parts = name.split(['-', '_']);
    let code = parts.next().unwrap_or_default();
    let is_language = code.len() == 2
        && code.bytes().all(|byte| byte.is_ascii_alphabetic())
        && parts.all(|part| {
            (2..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric())
        })
        && !NO_LANGUAGES.iter().any(|other| name.eq_ignore_ascii_case(other));
    is_language.then(|| name.replace('_', "-"))
}

/// The place of a column that was asked for.
fn place(column: &Column, row: &[&str], named: bool, delimiter: u8) -> Result<usize> {
    let mut message = match column {
        Column::Number(number) if (1..=row.len()).contains(number) => return Ok(number - 1),
        Column::Number(number) => {
            format!("has the number {number}; the first row has the columns from 1 to {}", row.len())
        }
        Column::Name(name) if !named => format!("has the name {name:?}, but the table has no header"),
        Column::Name(name) => {
            let mut called = (0..row.len()).filter(|at| row[*at].trim() == name.trim());
            let found = called.next();
            if let (Some(first), Some(second)) = (found, called.next()) {
                let message = format!(
                    "has the name {name:?}, as the columns {} and {} are called; give a number",
                    first + 1,
                    second + 1
                );
                return Err(Error::Option { option: "columns", message });
            }
            let same = |column: &&str| column.trim().to_lowercase() == name.trim().to_lowercase();
            match found.or_else(|| row.iter().position(same)) {
                Some(at) => return Ok(at),
                None => format!("has the name {name:?}; the columns are called {}", listed(row)),
            }
        }
    };
    message += &other_delimiter(row, delimiter);
    Err(Error::Option { option: "columns", message })
}

/// The error of a table where nothing says which columns have the texts.
fn unnamed(row: &[&str], named: bool, delimiter: u8) -> Error {
    if !named {
        let message =
            "must give the numbers of source and target, because the table has no header".to_owned();
        return Error::Option { option: "columns", message };
    }
    let mut message = format!(
        "no columns are called source and target, or by the codes of two languages; the first row has {}. Say \
         which columns they are, by their names, or by their numbers if the first row is no header",
        listed(row)
    );
    message += &other_delimiter(row, delimiter);
    Error::format(1, message)
}

/// What to say of a row that seems to have another delimiter.
fn other_delimiter(row: &[&str], delimiter: u8) -> String {
    let other = [';', '\t', ',', '|'].into_iter().find(|other| {
        u32::from(*other) != u32::from(delimiter) && row.iter().any(|name| name.contains(*other))
    });
    match other.filter(|_| row.len() == 1) {
        Some(other) => format!(". It looks as if the delimiter were {other:?}"),
        None => String::new(),
    }
}

fn listed(row: &[&str]) -> String {
    const MOST: usize = 20;
    let mut names: Vec<String> = row.iter().take(MOST).map(|name| format!("{:?}", start_of(name))).collect();
    if row.len() > MOST {
        names.push(format!("and {} more", row.len() - MOST));
    }
    names.join(", ")
}
