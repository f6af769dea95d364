//! The operators that several queries share. Timestamps are event times in milliseconds. A message has the time of the
//! first event of its batch, so no record that it carries is earlier.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use glaive_peer_common::nexmark::Event;
use glaive_peer_common::records::Timed;
use glaive_peer_common::{Row, Rows};
use timely::dataflow::channels::pact::{ParallelizationContract, Pipeline};
use timely::dataflow::operators::generic::builder_rc::OperatorBuilder;
use timely::dataflow::operators::generic::OutputBuilder;
use timely::dataflow::operators::{Capability, Operator};
use timely::dataflow::StreamVec;
use timely::progress::frontier::MutableAntichain;
use timely::progress::operate::FrontierInterest;

pub type Time = u64;
pub type Records<'scope, D> = StreamVec<'scope, Time, D>;
pub type Events<'scope> = Records<'scope, Event>;

/// To which worker a key goes. It uses other bits than FxHashMap, and ids of hot auctions are multiples of 100.
pub fn route(key: u64) -> u64 {
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32
}

/// The end of the window that covers a time.
pub fn end_of(time: Time, millis: Time) -> Time {
    (time / millis + 1) * millis
}

/// All events before this time have arrived.
pub fn reached(frontier: &MutableAntichain<Time>) -> Time {
    frontier.frontier().as_option().copied().unwrap_or(Time::MAX)
}

/// Lets go of the times before `reached`, and of the capability at the end of the stream.
pub fn advance(capability: &mut Option<Capability<Time>>, reached: Time) {
    match capability {
        Some(held) if reached < Time::MAX => held.downgrade(&reached),
        _ => *capability = None,
    }
}

/// What `select` returns of the records, in a batch for each of theirs.
pub fn select<'scope, D: 'static, O: 'static>(
    records: Records<'scope, D>,
    mut select: impl FnMut(D) -> Option<O> + 'static,
) -> Records<'scope, O> {
    records.unary(Pipeline, "Select", |_, _| {
        move |input, output| {
            input.for_each(|capability, batch| {
                let mut selected = Vec::with_capacity(batch.len());
                selected.extend(batch.drain(..).filter_map(&mut select));
                output.session(&capability).give_container(&mut selected);
            });
        }
    })
}

/// Records that a worker reads in place, so that no pass over them copies one. A message is one block.
#[derive(Clone)]
pub struct Block<D> {
    pub records: Rc<[D]>,
    /// By how much event times of its pass are later than those of the records.
    pub shift: Time,
}

pub type Blocks<'scope, D> = Records<'scope, Block<D>>;

impl<D: Timed> Block<D> {
    pub fn first_time(&self) -> Time {
        self.records[0].event_time() + self.shift
    }

    /// What `select` returns of the records and their event times.
    pub fn select<O>(self, select: impl Fn(&D, Time) -> Option<O>) -> impl Iterator<Item = O> {
        (0..self.records.len()).filter_map(move |at| {
            let record = &self.records[at];
            select(record, record.event_time() + self.shift)
        })
    }
}

/// What `select` returns of the records of blocks, in a batch for each block.
pub fn select_of_blocks<'scope, D: Timed + 'static, O: 'static>(
    blocks: Blocks<'scope, D>,
    select: impl Fn(&D, Time) -> Option<O> + Clone + 'static,
) -> Records<'scope, O> {
    blocks.unary(Pipeline, "SelectOfBlocks", |_, _| {
        move |input, output| {
            input.for_each(|capability, batch| {
                for block in batch.drain(..) {
                    let mut selected = Vec::with_capacity(block.records.len());
                    selected.extend(block.select(select.clone()));
                    output.session(&capability).give_container(&mut selected);
                }
            });
        }
    })
}

/// Two streams of what `select` returns of the events, of which most are on the right.
pub fn split<'scope, L: 'static, R: 'static>(
    events: Events<'scope>,
    mut select: impl FnMut(Event) -> Option<Result<L, R>> + 'static,
) -> (Records<'scope, L>, Records<'scope, R>) {
    let mut builder = OperatorBuilder::new("Split".to_owned(), events.scope());
    let mut input = builder.new_input(events, Pipeline);
    builder.set_notify_for(0, FrontierInterest::Never);
    let (left, lefts) = builder.new_output();
    let (right, rights) = builder.new_output();
    let (mut left, mut right) = (OutputBuilder::from(left), OutputBuilder::from(right));
    builder.build(move |_| {
        move |_| {
            let (mut left, mut right) = (left.activate(), right.activate());
            input.for_each(|capability, batch| {
                let (mut of_left, mut of_right) = (Vec::new(), Vec::with_capacity(batch.len()));
                for event in batch.drain(..) {
                    match select(event) {
                        Some(Ok(record)) => of_left.push(record),
                        Some(Err(record)) => of_right.push(record),
                        None => {}
                    }
                }
                left.session(&capability).give_container(&mut of_left);
                right.session(&capability).give_container(&mut of_right);
            });
        }
    });
    (lefts, rights)
}

/// Folds the records of each window into a state. Once the frontier has reached the window's end, its rows are emitted.
/// `select` says the end of a record's window and what is folded of it, for each of the records that it has.
pub fn fold_windows<'scope, D, F, V, S, O, I>(
    records: Records<'scope, D>,
    pact: impl ParallelizationContract<Time, Vec<D>>,
    mut select: impl FnMut(D) -> F + 'static,
    mut fold: impl FnMut(&mut S, V) + 'static,
    mut emit: impl FnMut(Time, S) -> I + 'static,
) -> Records<'scope, O>
where
    D: 'static,
    F: IntoIterator<Item = (Time, V)>,
    S: Default + 'static,
    O: 'static,
    I: IntoIterator<Item = O>,
{
    records.unary_frontier(pact, "FoldWindows", |capability, _| {
        let mut capability = Some(capability);
        let mut windows: BTreeMap<Time, S> = BTreeMap::new();
        move |(input, frontier), output| {
            input.for_each(|_, batch| {
                let mut current: Option<(Time, &mut S)> = None;
                for (end, value) in batch.drain(..).flat_map(&mut select) {
                    let state = match current.take() {
                        Some((other, state)) if other == end => state,
                        _ => windows.entry(end).or_default(),
                    };
                    fold(state, value);
                    current = Some((end, state));
                }
            });
            let reached = reached(frontier);
            while let Some(window) = windows.first_entry().filter(|window| *window.key() <= reached) {
                let (end, state) = window.remove_entry();
                let held = capability.as_ref().expect("an input that has not ended");
                output.session(held).give_iterator(emit(end, state).into_iter());
            }
            advance(&mut capability, reached);
        }
    })
}

/// Where a query's rows go.
pub struct Sink {
    ended: Rc<Cell<bool>>,
    rows: Rows,
}

impl Sink {
    /// Whether the last row has come.
    pub fn has_ended(&self) -> bool {
        self.ended.get()
    }

    pub fn into_rows(self) -> Vec<Row> {
        (self.rows)()
    }
}

/// Ends a query: `show` makes the columns of a row.
pub fn end<D: 'static>(records: Records<'_, D>, drops: bool, show: fn(D) -> Row) -> Sink {
    let ended = Rc::new(Cell::new(false));
    let end = Rc::clone(&ended);
    if drops {
        records.sink(Pipeline, "Drop", move |(input, frontier)| {
            input.for_each(|_, batch| batch.clear());
            end.set(frontier.is_empty());
        });
        return Sink { ended, rows: Box::new(Vec::new) };
    }
    let collected = Rc::new(RefCell::new(Vec::new()));
    let collecting = Rc::clone(&collected);
    records.sink(Pipeline, "Collect", move |(input, frontier)| {
        input.for_each(|_, batch| collecting.borrow_mut().append(batch));
        end.set(frontier.is_empty());
    });
    Sink { ended, rows: Box::new(move || collected.take().into_iter().map(show).collect()) }
}
