//! Freeing what is large where it holds up nobody.

use std::thread;

/// Items beyond which it takes longer to free something than to start a thread for it.
pub(crate) const MANY: usize = 1000;

/// Frees a value on a thread of its own. Python frees objects with the GIL held, and perhaps on an event loop.
pub(crate) fn elsewhere<T: Default + Send + 'static>(value: &mut T) {
    let value = std::mem::take(value);
    // Where no thread can be started, the value is freed with the closure, here.
    _ = thread::Builder::new().spawn(move || drop(value));
}
