//! Writing an image, column by column.

use std::fs::File;
use std::io::Write;

use bytemuck::NoUninit;

use super::{HEAD, PIECE, Result, checksum, head};
use crate::control::Control;

/// Writes columns to a file as they come, and what there is to know of them at the end.
pub(crate) struct Writer<'a> {
    file: &'a mut File,
    control: Control<'a>,
    head: [u8; HEAD],
    /// Bytes of each column.
    lengths: Vec<u64>,
    /// Of each piece of each column.
    checksums: Vec<u64>,
    numbers: Vec<u64>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(file: &'a mut File, control: Control<'a>) -> Result<Writer<'a>> {
        let head = head();
        file.write_all(&head)?;
        Ok(Writer { file, control, head, lengths: Vec::new(), checksums: Vec::new(), numbers: Vec::new() })
    }

    /// How the caller stops what is done between columns.
    pub(crate) fn control(&self) -> Control<'a> {
        self.control
    }

    /// Writes an array.
    pub(crate) fn column<T: NoUninit>(&mut self, values: &[T]) -> Result<()> {
        let bytes: &[u8] = bytemuck::cast_slice(values);
        for piece in bytes.chunks(PIECE) {
            self.control.check()?;
            self.checksums.push(checksum(piece));
            self.file.write_all(piece)?;
        }
        self.lengths.push(bytes.len() as u64);
        Ok(())
    }

    /// Keeps a number in the table.
    pub(crate) fn number(&mut self, number: u64) {
        self.numbers.push(number);
    }

    /// Writes the table and the tail.
    pub(super) fn finish(self, tag: &[u8]) -> Result<()> {
        let mut table = Vec::new();
        table.extend_from_slice(&(tag.len() as u64).to_ne_bytes());
        table.extend_from_slice(tag);
        for list in [&self.numbers, &self.lengths, &self.checksums] {
            table.extend_from_slice(&(list.len() as u64).to_ne_bytes());
            table.extend_from_slice(bytemuck::cast_slice(list));
        }
        let sum = checksum(&[&self.head[..], &table].concat());
        self.file.write_all(&table)?;
        self.file.write_all(&(table.len() as u64).to_ne_bytes())?;
        self.file.write_all(&sum.to_ne_bytes())?;
        Ok(())
    }
}
