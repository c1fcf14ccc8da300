//! How a caller stops a long operation.

use crate::error::{Error, Result};

/// Asked now and then inside long operations; stops them when it answers yes.
///
/// An operation that is stopped returns [`Error::Aborted`] and changes nothing.
#[derive(Clone, Copy, Default)]
pub struct Control<'a> {
    stop: Option<&'a (dyn Fn() -> bool + Sync)>,
}

impl<'a> Control<'a> {
    /// Never stops.
    pub const NONE: Control<'static> = Control { stop: None };

    /// Stops when `stop` returns true. It is called from the threads that do the
    /// work, at intervals far below a millisecond, and has to be cheap.
    pub fn new(stop: &'a (dyn Fn() -> bool + Sync)) -> Self {
        Control { stop: Some(stop) }
    }

    /// Fails with [`Error::Aborted`] if the caller wants to stop.
    #[inline]
    pub fn check(&self) -> Result<()> {
        match self.stop {
            Some(stop) if stop() => Err(Error::Aborted),
            _ => Ok(()),
        }
    }
}

/// Bytes of text that are compared or analysed between two polls: some tens of microseconds.
const STRIDE: usize = 1 << 15;

/// Polls once in a stride of work, for loops whose rounds are too small to poll in each.
#[derive(Default)]
pub(crate) struct Pace {
    done: usize,
}

impl Pace {
    /// Counts work of about as much as analysing so many bytes of text, and polls when a stride is full.
    #[inline]
    pub(crate) fn step(&mut self, bytes: usize, control: Control<'_>) -> Result<()> {
        self.done += bytes;
        if self.done < STRIDE {
            return Ok(());
        }
        self.done = 0;
        control.check()
    }
}
