//! What an index depends on beside the texts it was made from.

use super::checksum;
use crate::features::{Features, Kind};
use crate::postings::{BLOCK, DENSE};
use crate::text;

/// Texts that use each rule of the analysis.
const PROBES: [&str; 6] = [
    "",
    "a",
    "Save  ALL the\u{a0}files, all 3 of them… now",
    "ﬁ Å ㍿ ΟΔΥΣΣΕΥΣ İstanbul \u{3000}ＷＩＤＥ",
    "保存所有文件。ファイルを保存 파일을 저장",
    "the the the the 👩‍👩‍👧 e\u{301} naïve",
];

/// A number that changes with the tables of Unicode, the rules by which texts are taken apart, the hash of their parts
/// and the layout of the index.
pub(super) fn of_analysis() -> u64 {
    let mut parts = vec![BLOCK as u64, DENSE as u64];
    // New versions of Unicode have new letters.
    parts.push(checksum(bytemuck::cast_slice(text::token_chars())));
    let mut features = Features::default();
    for probe in PROBES {
        let normalized = text::normalize(probe);
        parts.push(checksum(normalized.as_bytes()));
        for kind in [Kind::Token, Kind::Trigram] {
            let mut keys = Vec::new();
            features.keys(kind, &normalized, &mut keys);
            parts.extend(keys.into_iter().map(u64::from));
        }
    }
    checksum(bytemuck::cast_slice(&parts))
}
