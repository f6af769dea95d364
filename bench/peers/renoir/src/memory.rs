//! Streams of records that are in memory before the clock starts, and where their rows go.

use std::sync::{Arc, Mutex};

use glaive_peer_common::records::Passes;
use glaive_peer_common::{Failure, Row, Rows};
use renoir::operator::{ExchangeData, Operator};
use renoir::prelude::*;
use renoir::Stream;

const BATCH_SIZE: usize = 16 << 10;

/// The records that `read` returns for each thread, allocated by a thread of its own.
pub fn read_shares<T: Send>(
    threads: usize,
    read: impl Fn(usize) -> Result<Vec<T>, Failure> + Sync,
) -> Result<Vec<Vec<T>>, Failure> {
    std::thread::scope(|scope| {
        let read = &read;
        let readers: Vec<_> = (0..threads).map(|thread| scope.spawn(move || read(thread))).collect();
        readers.into_iter().map(|reader| reader.join().expect("a share")).collect()
    })
}

/// A thread owns its share of the records and hands each on as it is, so that none is copied.
pub fn stream<T: Clone + Send + 'static>(env: &StreamContext, shares: Vec<Vec<T>>) -> Stream<impl Operator<Out = T>> {
    let shares: Vec<_> = shares.into_iter().map(Some).collect();
    let shares = Arc::new(Mutex::new(shares));
    env.stream_par_iter(move |thread, _threads| {
        shares.lock().expect("the records")[thread as usize].take().expect("a share for each thread").into_iter()
    })
    .batch_mode(BatchMode::fixed(BATCH_SIZE))
}

/// A stream of records that a thread reads in several passes. Each has the time by which its pass is later than the first.
pub fn stream_of_passes<T: Clone + Send + Sync + 'static>(
    env: &StreamContext,
    shares: Vec<Vec<T>>,
    passes: Passes,
) -> Stream<impl Operator<Out = (T, u64)>> {
    let shares: Vec<_> = shares.into_iter().map(Arc::new).collect();
    env.stream_par_iter(move |thread, _threads| Repetition {
        records: Arc::clone(&shares[thread as usize]),
        passes,
        pass: 0,
        next: 0,
    })
    .batch_mode(BatchMode::fixed(BATCH_SIZE))
}

/// Yields all records in each pass.
struct Repetition<T> {
    records: Arc<Vec<T>>,
    passes: Passes,
    pass: u64,
    next: usize,
}

impl<T: Clone> Iterator for Repetition<T> {
    type Item = (T, u64);

    #[inline]
    fn next(&mut self) -> Option<(T, u64)> {
        if self.next == self.records.len() {
            self.pass += 1;
            self.next = 0;
        }
        if self.pass == self.passes.count {
            return None;
        }
        let record = self.records.get(self.next)?.clone();
        self.next += 1;
        Some((record, self.pass * self.passes.span))
    }
}

/// Ends a query: `show` makes the columns of a row.
pub fn end<T: ExchangeData>(rows: Stream<impl Operator<Out = T> + 'static>, drops: bool, show: fn(T) -> Row) -> Rows {
    if drops {
        rows.for_each(std::mem::drop);
        return Box::new(Vec::new);
    }
    let rows = rows.collect_vec();
    Box::new(move || rows.get().expect("the rows").into_iter().map(show).collect())
}
