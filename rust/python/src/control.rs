//! How Python stops a long operation.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use diglot_engine::{Control, Error};
use pyo3::prelude::*;

use crate::errors::{self, At};

/// How often a detached operation asks Python whether to go on.
const LOOK: Duration = Duration::from_millis(2);

const OPEN: u8 = 0;
const SET: u8 = 1;
const COMMITTED: u8 = 2;

/// Tells a worker thread that nobody waits for it any more, or the waiting side that it is too late to say so.
#[pyclass(frozen, module = "diglot._engine")]
#[derive(Default)]
pub(crate) struct CancelFlag(AtomicU8);

impl CancelFlag {
    fn turn(&self, to: u8) -> bool {
        match self.0.compare_exchange(OPEN, to, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => true,
            Err(now) => now == to,
        }
    }

    /// Makes it too late to set the flag.
    ///
    /// # Errors
    /// [`Error::Aborted`] if it was set before.
    pub(crate) fn commit(&self) -> Result<(), Error> {
        if self.turn(COMMITTED) { Ok(()) } else { Err(Error::Aborted) }
    }
}

#[pymethods]
impl CancelFlag {
    #[new]
    fn new() -> CancelFlag {
        CancelFlag::default()
    }

    /// Asks the operation to stop. Returns whether that came in time.
    fn set(&self) -> bool {
        self.turn(SET)
    }

    /// Makes it too late to set the flag; an error if it was set before.
    #[pyo3(name = "commit")]
    fn commit_from_python(&self, py: Python<'_>) -> PyResult<()> {
        self.commit().map_err(|failure| errors::engine(py, &failure, At::Single))
    }

    /// Whether the operation was asked to stop in time.
    fn is_set(&self) -> bool {
        self.0.load(Ordering::Acquire) == SET
    }
}

/// Runs `work` without the GIL, and stops it if `flag` or `signal` is set or Ctrl-C is pressed.
///
/// # Errors
/// What `work` returns, with the position of the item at fault; and what `signal.is_set()` raises.
pub(crate) fn detached<T: Send>(
    py: Python<'_>,
    flag: Option<&CancelFlag>,
    signal: Option<&Py<PyAny>>,
    work: impl FnOnce(Control<'_>) -> Result<T, (At, Error)> + Send,
) -> PyResult<T> {
    let raised = Mutex::new(None);
    let start = Instant::now();
    let next_look = Mutex::new(start + LOOK);
    let stop = || {
        if flag.is_some_and(CancelFlag::is_set) {
            return true;
        }
        // Whoever does not get the lock need not look: another thread of the same operation is looking.
        let Ok(mut next_look) = next_look.try_lock() else { return false };
        if Instant::now() < *next_look {
            return false;
        }
        let looked = Python::try_attach(|py| {
            py.check_signals()?;
            signal.map_or(Ok(false), |signal| signal.bind(py).call_method0("is_set")?.is_truthy())
        });
        *next_look = Instant::now() + LOOK;
        match looked {
            Some(Ok(set)) => set,
            Some(Err(failure)) => {
                raised.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(failure);
                true
            }
            // The interpreter is shutting down.
            None => true,
        }
    };
    let result = py.detach(|| work(Control::new(&stop)));
    match raised.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner()) {
        Some(failure) => Err(failure),
        None => result.map_err(|(at, failure)| errors::engine(py, &failure, at)),
    }
}
