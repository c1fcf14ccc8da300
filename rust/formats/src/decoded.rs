//! Text in UTF-8 from files in any encoding, which goes on after what is not valid.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use encoding_rs::{Decoder, DecoderResult, Encoding, UTF_8, UTF_16BE, UTF_16LE};

use crate::error::{Error, Result};
use crate::input::Input;

/// Bytes that are decoded at a time.
const BLOCK: usize = 1 << 16;

/// Stands in the text for what is not valid in the file's encoding. No text in UTF-8 has it, so the lines that do are not
/// valid either, and only they are lost.
const INVALID: u8 = 0xFF;

/// The text of a file.
pub(crate) struct Decoded {
    packed: Box<dyn Read + Send>,
    pub(crate) bytes_read: Arc<AtomicU64>,
    pub(crate) encoding: &'static Encoding,
    /// None for UTF-8, which stays as it is.
    decoder: Option<Decoder>,
    raw: Vec<u8>,
    text: Vec<u8>,
    at: usize,
}

impl Decoded {
    /// `declared` finds the encoding that the file says it has in its first bytes; it is asked only if there is no byte
    /// order mark, and if they do not look like UTF-16.
    ///
    /// # Errors
    /// What `declared` says, as an [`Error::Format`].
    pub(crate) fn new(
        input: Input,
        declared: impl FnOnce(&[u8]) -> std::result::Result<&'static Encoding, String>,
    ) -> Result<Decoded> {
        let (head, packed, bytes_read) = input.into_parts();
        let (encoding, mark) = match (Encoding::for_bom(&head), &head[..]) {
            (Some(found), _) => found,
            // Every file begins with a character of ASCII more likely than with U+0000.
            (None, [1..=0x7F, 0, 1..=0x7F, 0, ..]) => (UTF_16LE, 0),
            (None, [0, 1..=0x7F, 0, 1..=0x7F, ..]) => (UTF_16BE, 0),
            (None, head) => (declared(head).map_err(|message| Error::format(1, message))?, 0),
        };
        let mut head = io::Cursor::new(head);
        head.set_position(mark as u64);
        Ok(Decoded {
            packed: Box::new(head.chain(packed)),
            bytes_read,
            encoding,
            decoder: (encoding != UTF_8).then(|| encoding.new_decoder_without_bom_handling()),
            raw: vec![0; BLOCK],
            text: Vec::new(),
            at: 0,
        })
    }

    /// Decodes what comes next into `text`, which stays empty only at the end of the file.
    fn fill(&mut self) -> io::Result<()> {
        let Decoded { packed, decoder: Some(decoder), raw, text, at, .. } = self else { return Ok(()) };
        text.clear();
        *at = 0;
        while text.is_empty() {
            let bytes = packed.read(raw)?;
            let mut rest = &raw[..bytes];
            loop {
                let start = text.len();
                let room = decoder.max_utf8_buffer_length_without_replacement(rest.len());
                // What overflows would be beyond any memory.
                text.resize(start + room.unwrap_or_default(), 0);
                let (result, read, written) =
                    decoder.decode_to_utf8_without_replacement(rest, &mut text[start..], bytes == 0);
                text.truncate(start + written);
                rest = &rest[read..];
                match result {
                    DecoderResult::Malformed(..) => text.push(INVALID),
                    DecoderResult::InputEmpty | DecoderResult::OutputFull => break,
                }
            }
            if bytes == 0 {
                self.decoder = None;
                return Ok(());
            }
        }
        Ok(())
    }
}

impl Read for Decoded {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.text.len() {
            if self.decoder.is_none() {
                return self.packed.read(buffer);
            }
            self.fill()?;
        }
        let bytes = (&self.text[self.at..]).read(buffer)?;
        self.at += bytes;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use encoding_rs::{EUC_KR, SHIFT_JIS, WINDOWS_1252};
    use proptest::prelude::*;

    use super::*;

    fn decoded(bytes: &[u8], declared: &'static Encoding) -> Vec<u8> {
        let input = Input::new(io::Cursor::new(bytes.to_vec())).unwrap();
        let mut text = Vec::new();
        Decoded::new(input, |_| Ok(declared)).unwrap().read_to_end(&mut text).unwrap();
        text
    }

    fn utf16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(to_bytes).collect()
    }

    #[test]
    fn marks_and_zeros_tell_the_encoding() {
        let text = "msgid \"저장\"\n";
        let marked = format!("\u{FEFF}{text}");
        for bytes in [
            text.as_bytes().to_vec(),
            marked.clone().into_bytes(),
            utf16(&marked, u16::to_le_bytes),
            utf16(&marked, u16::to_be_bytes),
            utf16(text, u16::to_le_bytes),
            utf16(text, u16::to_be_bytes),
        ] {
            assert_eq!(decoded(&bytes, UTF_8), text.as_bytes());
        }
        assert_eq!(decoded(b"", UTF_8), b"");
        assert_eq!(decoded(b"\xEF\xBB\xBF", UTF_8), b"");
    }

    #[test]
    fn only_what_is_not_valid_is_lost() {
        assert_eq!(
            decoded(b"a\xC0\xFA\xC0\xE5\xFFb", EUC_KR),
            "a저장".bytes().chain(*b"\xFFb").collect::<Vec<_>>()
        );
        // A lone surrogate between two letters, and half a character at the end.
        let mut bytes = utf16("\u{FEFF}ab", u16::to_le_bytes);
        bytes.splice(4..4, [0x00, 0xD8]);
        bytes.push(b'c');
        assert_eq!(decoded(&bytes, UTF_8), b"a\xFFb\xFF");
        assert_eq!(decoded(b"caf\xE9", WINDOWS_1252), "café".as_bytes());
    }

    proptest! {
        #[test]
        fn long_texts_are_decoded_across_blocks(text in "[ -~ぁ-ん]{0,40}", times in 1..5000usize) {
            let text = text.repeat(times);
            let (bytes, _, lossy) = SHIFT_JIS.encode(&text);
            // The backslash and the tilde are other characters there.
            prop_assume!(!lossy && !text.contains(['\\', '~']));
            prop_assert_eq!(decoded(&bytes, SHIFT_JIS), text.as_bytes());
        }
    }
}
