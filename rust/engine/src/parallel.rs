//! Work shared among threads that live as long as the call.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

/// More threads than this are never started for one call, whatever the caller asks for.
const MOST_THREADS: usize = 256;

/// How many threads the machine runs at once.
pub(crate) fn available() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// `work` on every number below `count`, on all cores, each thread with a state of its own. The results are in order;
/// after an error no new item is started, and the error of the lowest number is returned.
pub(crate) fn map<S, T: Send, E: Send>(
    count: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, E> {
    map_on(available(), count, state, work).map_err(|(_, error)| error)
}

/// As [`map`], on at most `threads` threads, and with the number at which the error arose.
pub(crate) fn map_on<S, T: Send, E: Send>(
    threads: usize,
    count: usize,
    state: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<T, E> + Sync,
) -> Result<Vec<T>, (usize, E)> {
    let threads = threads.clamp(1, count.clamp(1, MOST_THREADS));
    let mut done: Vec<(usize, Result<T, E>)> = if threads == 1 {
        let mut done = Vec::with_capacity(count);
        let mut state = state();
        for item in 0..count {
            let result = work(&mut state, item);
            let failed = result.is_err();
            done.push((item, result));
            if failed {
                break;
            }
        }
        done
    } else {
        let next = AtomicUsize::new(0);
        let failed = AtomicBool::new(false);
        let all = Mutex::new(Vec::with_capacity(count));
        let run = || {
            let mut state = state();
            let mut own = Vec::new();
            while !failed.load(Ordering::Relaxed) {
                let item = next.fetch_add(1, Ordering::Relaxed);
                if item >= count {
                    break;
                }
                let result = work(&mut state, item);
                failed.fetch_or(result.is_err(), Ordering::Relaxed);
                own.push((item, result));
            }
            all.lock().expect("no thread panics while it holds the lock").append(&mut own);
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                // Where no thread is to be had, those that there are do the work.
                if thread::Builder::new().spawn_scoped(scope, run).is_err() {
                    break;
                }
            }
            run();
        });
        all.into_inner().expect("no thread panics while it holds the lock")
    };
    done.sort_unstable_by_key(|(item, _)| *item);
    done.into_iter().map(|(item, result)| result.map_err(|error| (item, error))).collect()
}
