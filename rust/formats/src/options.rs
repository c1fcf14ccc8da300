//! How a file is to be read or written, as far as it does not say so itself.

/// Options of all formats. Each format says which of them it reads; one that it has no use for is an error, not ignored.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The language of the sources. A format that names languages takes only what is in it; for one that does not, it is
    /// the language of all of them. For a writer, the language that the file says it is in.
    pub source_language: Option<String>,
    /// The languages of the targets, in the same way. Empty: all there are.
    pub target_languages: Vec<String>,
}
