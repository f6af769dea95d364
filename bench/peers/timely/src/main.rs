//! NEXMark's queries on timely dataflow, as its users write them for speed, for scripts/peers.
//!
//!     glaive_peer_timely QUERY THREADS FILE OUTPUT
//!
//! QUERY: `q0` to `q8` (nexmark.rs). The rows go to OUTPUT as CSV; where it is `-`, they are dropped as they come.
//! Prints how many seconds it took from the first event that a worker reads to the last row.

mod nexmark;
mod operators;
mod winning_bids;

use std::sync::Barrier;
use std::time::Instant;

use glaive_peer_common::nexmark::{read_share, Event};
use glaive_peer_common::{Call, Failure, Row};
use timely::dataflow::operators::Input;
use timely::worker::Worker;

/// Events of a batch, which is one container of the input. The frontier moves on from one batch to the next.
const BATCH_SIZE: usize = 1 << 12;

/// What a worker has measured, and its rows.
struct Done {
    begin: Instant,
    end: Instant,
    rows: Vec<Row>,
}

fn main() -> Result<(), Failure> {
    let call = Call::from_command_line()?;
    if !nexmark::QUERIES.contains(&call.program.as_str()) {
        return Err(format!("there is no query '{}'", call.program).into());
    }
    let config = if call.threads > 1 { timely::Config::process(call.threads) } else { timely::Config::thread() };
    let (query, file, drops) = (call.program.clone(), call.file.clone(), call.drops());
    let ready = Barrier::new(call.threads);
    let guards = timely::execute(config, move |worker| run(worker, &query, &file, drops, &ready))?;
    let done: Vec<Done> = guards.join().into_iter().collect::<Result<_, _>>()?;
    let begin = done.iter().map(|each| each.begin).min().ok_or("no worker has run")?;
    let end = done.iter().map(|each| each.end).max().ok_or("no worker has run")?;
    call.finish((end - begin).as_secs_f64(), || done.into_iter().flat_map(|each| each.rows).collect())
}

/// A worker's part. It allocates its share of the events itself, before the clock starts, and hands over whole batches.
fn run(worker: &mut Worker, query: &str, file: &str, drops: bool, ready: &Barrier) -> Done {
    let share = read_share(file, worker.index(), worker.peers()).unwrap_or_else(|error| panic!("{error}"));
    let batches = batches_of(share);
    let (mut input, sink) = worker.dataflow(|scope| {
        let (input, events) = scope.new_input::<Vec<Event>>();
        (input, nexmark::build(query, events, drops))
    });
    ready.wait();
    let begin = Instant::now();
    for mut batch in batches {
        input.advance_to(batch[0].date_time());
        input.send_batch(&mut batch);
        worker.step();
    }
    input.close();
    worker.step_while(|| !sink.has_ended());
    let end = Instant::now();
    Done { begin, end, rows: sink.into_rows() }
}

fn batches_of(share: Vec<Event>) -> Vec<Vec<Event>> {
    let mut events = share.into_iter();
    let mut next = move || events.by_ref().take(BATCH_SIZE).collect::<Vec<_>>();
    std::iter::from_fn(move || Some(next()).filter(|batch| !batch.is_empty())).collect()
}
