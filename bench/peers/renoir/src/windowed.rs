//! The windowed queries of the Slash paper. Rows are those of Glaive's programs: a window's start, a key and its value.
//!
//! A key has the start of the window that covers the record, and the record has that start as its event time, so that
//! windows begin where Glaive's do (aligned_window.rs).
//!
//! Where keys recur in a window, a thread folds its own records first, and only what it has of a key moves.

use std::path::Path;

use glaive_peer_common::records::read_flow;
use glaive_peer_common::windowed::{read_campaigns, read_offers, AdEvent, Bid, Offer, TaskEvent};
use glaive_peer_common::{Call, Failure, Row, Rows};
use renoir::operator::{ExchangeData, Operator, Timestamp};
use renoir::prelude::*;
use renoir::Stream;
use serde::de::DeserializeOwned;

use crate::aligned_window::AlignedWindow;
use crate::memory::{end, read_shares, stream_of_passes};

pub const PROGRAMS: [&str; 5] = ["ysb-yahoo", "ysb", "nb7", "cm", "nb8"];

const SECOND_MILLIS: u64 = 1_000;
const MINUTE_MILLIS: u64 = 60 * SECOND_MILLIS;
const HOUR_MILLIS: u64 = 60 * MINUTE_MILLIS;

/// The start of a window, and a key.
type Key = (u64, u64);

pub fn build(env: &StreamContext, call: &Call) -> Result<Rows, Failure> {
    let drops = call.drops();
    Ok(match call.program.as_str() {
        "ysb-yahoo" => {
            let campaigns = read_campaigns(&call.file)?;
            let views = flows::<AdEvent>(env, call)?.filter_map(move |(event, shift)| {
                let campaign = if event.is_view() { campaigns.get(&event.ad_id) } else { None };
                campaign.map(|campaign| ((start_of(event.time + shift, 10 * SECOND_MILLIS), *campaign), 1))
            });
            end(fold_keys(views, 0, |count: &mut u64, more| *count += more), drops, |(key, count)| row(key, [count]))
        }
        "ysb" => {
            let views = flows::<AdEvent>(env, call)?.filter_map(|(event, shift)| {
                event.is_view().then(|| (start_of(event.time + shift, 10 * MINUTE_MILLIS), event.ad_id))
            });
            let counts = timed(views, |(start, _)| *start).group_by(|view| *view).window(AlignedWindow).count().unkey();
            end(counts, drops, |(key, count)| row(key, [count as u64]))
        }
        "nb7" => {
            let prices = flows::<Bid>(env, call)?
                .map(|(bid, shift)| ((start_of(bid.time + shift, MINUTE_MILLIS), bid.auction), bid.price));
            let highest = fold_keys(prices, 0, |highest: &mut u64, price| *highest = *price.max(highest));
            end(highest, drops, |(key, price)| row(key, [price]))
        }
        "cm" => {
            let requests = flows::<TaskEvent>(env, call)?.map(|(event, shift)| {
                ((start_of(event.time + shift, 2 * SECOND_MILLIS), event.job_id), (f64::from(event.cpu), 1))
            });
            let sums = fold_keys(requests, (0.0, 0), |(sum, count): &mut (f64, u64), (more, events)| {
                *sum += more;
                *count += events;
            });
            end(sums, drops, |((start, job), (sum, count))| {
                vec![start.to_string(), job.to_string(), (sum / count as f64).to_string()]
            })
        }
        "nb8" => {
            let shares = read_shares(call.threads, |thread| read_offers(Path::new(&call.file), thread))?;
            let offers = stream_of_passes(env, shares, call.passes).map(|(offer, shift)| side_of(offer, shift));
            let pairs = timed(offers, |((start, _), _)| *start)
                .group_by(|(seller, _)| *seller)
                .window(AlignedWindow)
                .fold(Market::default(), |(auctions, times): &mut Market, (_, side)| match side {
                    Ok(auction) => auctions.push(*auction),
                    Err(time) => times.push(*time),
                })
                .flat_map(|(_, (auctions, times))| pairs_of(auctions, times))
                .unkey();
            end(pairs, drops, |(seller, pair)| row(seller, pair))
        }
        program => return Err(format!("there is no program '{program}'").into()),
    })
}

/// The records of the executors' flows, one of each thread, and by how much their event times are later in a pass.
fn flows<T: Clone + Send + Sync + DeserializeOwned + 'static>(
    env: &StreamContext,
    call: &Call,
) -> Result<Stream<impl Operator<Out = (T, u64)>>, Failure> {
    let shares = read_shares(call.threads, |thread| read_flow(Path::new(&call.file), thread))?;
    Ok(stream_of_passes(env, shares, call.passes))
}

/// The auctions of a seller in a window, and the times when the seller has registered in it.
type Market = (Vec<u64>, Vec<u64>);

/// An auction, or the time of a registration, of a seller in a window.
fn side_of(offer: Offer, shift: u64) -> (Key, Result<u64, u64>) {
    const WINDOW: u64 = 12 * HOUR_MILLIS;
    match offer {
        Offer::Auction(auction) => ((start_of(auction.time + shift, WINDOW), auction.seller), Ok(auction.id)),
        Offer::Seller(seller) => ((start_of(seller.time + shift, WINDOW), seller.id), Err(seller.time + shift)),
    }
}

/// Each auction with each time.
fn pairs_of(auctions: Vec<u64>, times: Vec<u64>) -> impl Iterator<Item = [u64; 2]> {
    auctions.into_iter().flat_map(move |auction| times.clone().into_iter().map(move |time| [auction, time]))
}

fn start_of(time: u64, millis: u64) -> u64 {
    time / millis * millis
}

/// Gives the records the starts of their windows as event times, with a watermark whenever a window begins.
fn timed<T: Clone + Send + 'static>(
    records: Stream<impl Operator<Out = T> + 'static>,
    start: impl Fn(&T) -> u64 + Clone + Send + 'static,
) -> Stream<impl Operator<Out = T>> {
    let mut latest = Timestamp::MIN;
    records.add_timestamps(
        move |record| start(record) as Timestamp,
        move |_, time| {
            let begins = *time > latest;
            latest = *time;
            begins.then_some(*time)
        },
    )
}

/// Folds the values of each key: those of a thread first, then those of all.
fn fold_keys<S: ExchangeData>(
    records: Stream<impl Operator<Out = (Key, S)> + 'static>,
    none: S,
    fold: impl Fn(&mut S, &S) + Copy + Send + 'static,
) -> Stream<impl Operator<Out = (Key, S)>> {
    timed(records, |((start, _), _)| *start)
        .to_keyed()
        .window(AlignedWindow)
        .fold(none, fold)
        .unkey()
        .group_by(|(key, _)| *key)
        .map(|(_, (_, part))| part)
        .window(AlignedWindow)
        .fold_first(fold)
        .unkey()
}

fn row<const VALUES: usize>((start, key): Key, values: [u64; VALUES]) -> Row {
    [start, key].into_iter().chain(values).map(|number| number.to_string()).collect()
}
