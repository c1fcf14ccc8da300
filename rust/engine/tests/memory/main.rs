//! The memory as a whole: against a model that scans everything, in every layout, with racing threads, stopped at any
//! moment, and with hostile input.

mod apply;
mod cancellation;
mod duplicates;
mod hostile;
mod image;
mod layouts;
mod model;
mod operations;
mod scan;
mod texts;
mod threads;
mod vectors;
