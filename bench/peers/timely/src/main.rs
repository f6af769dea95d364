//! Programs on timely dataflow, as its users write them for speed, for scripts/peers.
//!
//!     glaive_peer_timely PROGRAM THREADS FILE OUTPUT [PASSES SPAN]
//!
//! PROGRAM: `q0` to `q8` are NEXMark's queries (nexmark.rs); `ysb-yahoo`, `ysb`, `nb7`, `cm` and `nb8` are the windowed
//! queries of the Slash paper (windowed.rs), which read their records PASSES times, each time with event times that are SPAN
//! milliseconds later. The rows go to OUTPUT as CSV; where it is `-`, they are dropped as they come. Prints how many seconds
//! it took from the first record that a worker reads to the last row.

mod nexmark;
mod operators;
mod windowed;
mod winning_bids;

use std::path::Path;
use std::rc::Rc;
use std::sync::Barrier;
use std::time::Instant;

use glaive_peer_common::nexmark::{read_share, Event};
use glaive_peer_common::records::{read_flow, Timed};
use glaive_peer_common::windowed::{read_campaigns, read_offers};
use glaive_peer_common::{Call, Failure, Row};
use timely::dataflow::operators::Input;
use timely::worker::Worker;

use crate::operators::{Block, Blocks, Records, Sink, Time};

/// Records of a batch or a block. The frontier moves on from one to the next.
const BATCH_SIZE: usize = 1 << 12;

/// The messages of a worker's input, each with the time of its first record.
type Messages<D> = Box<dyn Iterator<Item = (Time, Vec<D>)>>;

/// What a worker has measured, and its rows.
struct Done {
    begin: Instant,
    end: Instant,
    rows: Vec<Row>,
}

fn main() -> Result<(), Failure> {
    let call = Call::from_command_line()?;
    let drops = call.drops();
    match call.program.as_str() {
        "ysb-yahoo" => {
            let campaigns = read_campaigns(&call.file)?;
            execute_windowed(&call, read_flow, move |events| {
                windowed::views_of_campaigns(events, campaigns.clone(), drops)
            })
        }
        "ysb" => execute_windowed(&call, read_flow, move |events| windowed::views_of_ads(events, drops)),
        "nb7" => execute_windowed(&call, read_flow, move |bids| windowed::highest_prices(bids, drops)),
        "cm" => execute_windowed(&call, read_flow, move |events| windowed::mean_requests(events, drops)),
        "nb8" => execute_windowed(&call, read_offers, move |offers| windowed::auctions_of_new_sellers(offers, drops)),
        query if nexmark::QUERIES.contains(&query) => {
            let (query, file, threads) = (query.to_owned(), call.file.clone(), call.threads);
            execute(
                &call,
                move |worker| Ok(batches_of(read_share(&file, worker, threads)?)),
                move |events| nexmark::build(&query, events, drops),
            )
        }
        other => Err(format!("there is no program '{other}'").into()),
    }
}

/// Runs the dataflow that `build` makes of the records that `read` returns of the file for each worker.
fn execute_windowed<D: Timed + Clone + 'static>(
    call: &Call,
    read: fn(&Path, usize) -> Result<Vec<D>, Failure>,
    build: impl Fn(Blocks<'_, D>) -> Sink + Send + Sync + 'static,
) -> Result<(), Failure> {
    let (file, passes) = (call.file.clone(), call.passes);
    let read = move |worker| {
        let records: Vec<Rc<[D]>> = chunks_of(read(Path::new(&file), worker)?).map(Rc::from).collect();
        let shifts = (0..passes.count).map(move |pass| pass * passes.span);
        let messages = shifts.flat_map(move |shift| {
            records.clone().into_iter().map(move |records| {
                let block = Block { records, shift };
                (block.first_time(), vec![block])
            })
        });
        Ok(Box::new(messages) as Messages<_>)
    };
    execute(call, read, build)
}

/// Runs the dataflow that `build` makes of the messages that `read` returns for each worker.
fn execute<D: Clone + 'static>(
    call: &Call,
    read: impl Fn(usize) -> Result<Messages<D>, Failure> + Send + Sync + 'static,
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

/// A worker's part. It allocates its share of the records itself, before the clock starts, and hands over whole messages.
fn run<D: Clone + 'static>(
    worker: &mut Worker,
    read: &impl Fn(usize) -> Result<Messages<D>, Failure>,
    build: &impl Fn(Records<'_, D>) -> Sink,
    ready: &Barrier,
) -> Done {
    let messages = read(worker.index()).unwrap_or_else(|error| panic!("{error}"));
    let (mut input, sink) = worker.dataflow(|scope| {
        let (input, records) = scope.new_input::<Vec<D>>();
        (input, build(records))
    });
    ready.wait();
    let begin = Instant::now();
    for (time, mut message) in messages {
        input.advance_to(time);
        input.send_batch(&mut message);
        worker.step();
    }
    input.close();
    worker.step_while(|| !sink.has_ended());
    let end = Instant::now();
    Done { begin, end, rows: sink.into_rows() }
}

/// Batches of events, which move from the worker's memory into the dataflow.
fn batches_of(share: Vec<Event>) -> Messages<Event> {
    let batches: Vec<_> = chunks_of(share).collect();
    Box::new(batches.into_iter().map(|batch| (batch[0].event_time(), batch)))
}

fn chunks_of<D>(share: Vec<D>) -> impl Iterator<Item = Vec<D>> {
    let mut records = share.into_iter();
    let mut next = move || records.by_ref().take(BATCH_SIZE).collect::<Vec<_>>();
    std::iter::from_fn(move || Some(next()).filter(|batch| !batch.is_empty()))
}
