//! Programs on timely dataflow, as its users write them for speed, for scripts/peers.
//!
//!     glaive_peer_timely PROGRAM THREADS FILE OUTPUT
//!
//! PROGRAM: `q0` to `q8` are NEXMark's queries (nexmark.rs); `ysb-yahoo`, `ysb`, `nb7`, `cm` and `nb8` are the windowed
//! queries of the Slash paper (windowed.rs). The rows go to OUTPUT as CSV; where it is `-`, they are dropped as they come.
//! Prints how many seconds it took from the first record that a worker reads to the last row.

mod nexmark;
mod operators;
mod winning_bids;
mod windowed;

use std::sync::Barrier;
use std::time::Instant;

use glaive_peer_common::nexmark::read_share;
use glaive_peer_common::records::{read_flow, Timed};
use glaive_peer_common::windowed::{read_campaigns, read_offers};
use glaive_peer_common::{Call, Failure, Row};
use timely::dataflow::operators::Input;
use timely::worker::Worker;

use crate::operators::{Records, Sink};

/// Records of a batch, which is one container of the input. The frontier moves on from one batch to the next.
const BATCH_SIZE: usize = 1 << 12;

/// What a worker has measured, and its rows.
struct Done {
    begin: Instant,
    end: Instant,
    rows: Vec<Row>,
}

fn main() -> Result<(), Failure> {
    let call = Call::from_command_line()?;
    let (file, threads, drops) = (call.file.clone(), call.threads, call.drops());
    match call.program.as_str() {
        "ysb-yahoo" => {
            let campaigns = read_campaigns(&file)?;
            execute(
                &call,
                move |worker| read_flow(&file, worker),
                move |events| windowed::views_of_campaigns(events, campaigns.clone(), drops),
            )
        }
        "ysb" => execute(
            &call,
            move |worker| read_flow(&file, worker),
            move |events| windowed::views_of_ads(events, drops),
        ),
        "nb7" => execute(
            &call,
            move |worker| read_flow(&file, worker),
            move |bids| windowed::highest_prices(bids, drops),
        ),
        "cm" => execute(
            &call,
            move |worker| read_flow(&file, worker),
            move |events| windowed::mean_requests(events, drops),
        ),
        "nb8" => execute(
            &call,
            move |worker| read_offers(&file, worker),
            move |offers| windowed::auctions_of_new_sellers(offers, drops),
        ),
        query if nexmark::QUERIES.contains(&query) => {
            let query = query.to_owned();
            execute(
                &call,
                move |worker| read_share(&file, worker, threads),
                move |events| nexmark::build(&query, events, drops),
            )
        }
        other => Err(format!("there is no program '{other}'").into()),
    }
}

/// Runs the dataflow that `build` makes of the records that `read` returns for each worker.
fn execute<D: Timed + Clone + 'static>(
    call: &Call,
    read: impl Fn(usize) -> Result<Vec<D>, Failure> + Send + Sync + 'static,
    build: impl Fn(Records<'_, D>) -> Sink + Send + Sync + 'static,
) -> Result<(), Failure> {
    let config = if call.threads > 1 { timely::Config::process(call.threads) } else { timely::Config::thread() };
    let ready = Barrier::new(call.threads);
    let guards = timely::execute(config, move |worker| run(worker, &read, &build, &ready))?;
    let done: Vec<Done> = guards.join().into_iter().collect::<Result<_, _>>()?;
    let begin = done.iter().map(|each| each.begin).min().ok_or("no worker has run")?;
    let end = done.iter().map(|each| each.end).max().ok_or("no worker has run")?;
    call.finish((end - begin).as_secs_f64(), || done.into_iter().flat_map(|each| each.rows).collect())
}

/// A worker's part. It allocates its share of the records itself, before the clock starts, and hands over whole batches.
fn run<D: Timed + Clone + 'static>(
    worker: &mut Worker,
    read: &impl Fn(usize) -> Result<Vec<D>, Failure>,
    build: &impl Fn(Records<'_, D>) -> Sink,
    ready: &Barrier,
) -> Done {
    let share = read(worker.index()).unwrap_or_else(|error| panic!("{error}"));
    let batches = batches_of(share);
    let (mut input, sink) = worker.dataflow(|scope| {
        let (input, records) = scope.new_input::<Vec<D>>();
        (input, build(records))
    });
    ready.wait();
    let begin = Instant::now();
    for mut batch in batches {
        input.advance_to(batch[0].event_time());
        input.send_batch(&mut batch);
        worker.step();
    }
    input.close();
    worker.step_while(|| !sink.has_ended());
    let end = Instant::now();
    Done { begin, end, rows: sink.into_rows() }
}

fn batches_of<D>(share: Vec<D>) -> Vec<Vec<D>> {
    let mut records = share.into_iter();
    let mut next = move || records.by_ref().take(BATCH_SIZE).collect::<Vec<_>>();
    std::iter::from_fn(move || Some(next()).filter(|batch| !batch.is_empty())).collect()
}
