//! The windowed queries of the Slash paper. Rows are those of Glaive's programs: a window's start, a key and its value.
//!
//! Where keys recur in a window, a worker folds its own records first, and only what it has of a key is exchanged.

use std::rc::Rc;

use glaive_peer_common::records::Timed;
use glaive_peer_common::windowed::{AdEvent, Bid, Offer, TaskEvent};
use glaive_peer_common::Row;
use rustc_hash::FxHashMap;
use timely::dataflow::channels::pact::{Exchange, Pipeline};
use timely::ExchangeData;

use crate::operators::{end, end_of, fold_windows, route, select_of_blocks, Blocks, Records, Sink, Time};

const SECOND_MILLIS: Time = 1_000;
const MINUTE_MILLIS: Time = 60 * SECOND_MILLIS;
const HOUR_MILLIS: Time = 60 * MINUTE_MILLIS;

/// A window's end, a key, and what is known of it there.
type Part<S> = (Time, u64, S);

/// `ysb --profile=yahoo`: the views of each campaign in 10 s.
pub fn views_of_campaigns(events: Blocks<'_, AdEvent>, campaigns: FxHashMap<u64, u64>, drops: bool) -> Sink {
    const WINDOW: Time = 10 * SECOND_MILLIS;
    let campaigns = Rc::new(campaigns);
    let views = fold_keys(
        events,
        move |event, time| {
            let campaign = if event.is_view() { campaigns.get(&event.ad_id) } else { None };
            campaign.map(|campaign| (end_of(time, WINDOW), *campaign, 1))
        },
        |count: &mut u64, more| *count += more,
    );
    end(views, drops, |(end, campaign, count)| numbers([end - WINDOW, campaign, count]))
}

/// `ysb`: the views of each ad in 10 min. Ads hardly recur in a window, so each view moves to the worker that counts it.
pub fn views_of_ads(events: Blocks<'_, AdEvent>, drops: bool) -> Sink {
    const WINDOW: Time = 10 * MINUTE_MILLIS;
    let views = select_of_blocks(events, |event, time| event.is_view().then(|| (end_of(time, WINDOW), event.ad_id)));
    let counts = fold_windows(
        views,
        Exchange::new(|(_, ad): &(Time, u64)| route(*ad)),
        Some,
        |counts: &mut FxHashMap<u64, u64>, ad| *counts.entry(ad).or_default() += 1,
        parts,
    );
    end(counts, drops, |(end, ad, count)| numbers([end - WINDOW, ad, count]))
}

/// `nb7`: the highest price of each auction in a minute.
pub fn highest_prices(bids: Blocks<'_, Bid>, drops: bool) -> Sink {
    const WINDOW: Time = MINUTE_MILLIS;
    let prices = fold_keys(
        bids,
        |bid, time| Some((end_of(time, WINDOW), bid.auction, bid.price)),
        |highest: &mut u64, price| *highest = price.max(*highest),
    );
    end(prices, drops, |(end, auction, price)| numbers([end - WINDOW, auction, price]))
}

/// `cm`: the mean CPU request of each job in 2 s.
pub fn mean_requests(events: Blocks<'_, TaskEvent>, drops: bool) -> Sink {
    const WINDOW: Time = 2 * SECOND_MILLIS;
    let requests = fold_keys(
        events,
        |event, time| Some((end_of(time, WINDOW), event.job_id, (f64::from(event.cpu), 1))),
        |(sum, count): &mut (f64, u64), (more, events)| {
            *sum += more;
            *count += events;
        },
    );
    end(requests, drops, |(end, job, (sum, count))| {
        vec![(end - WINDOW).to_string(), job.to_string(), (sum / count as f64).to_string()]
    })
}

/// The auctions of a window, each with its seller, and when sellers have registered in it.
#[derive(Default)]
struct Market {
    auctions: Vec<(u64, u64)>,
    registrations: FxHashMap<u64, Vec<Time>>,
}

/// `nb8`: the auctions of sellers that register in the same 12 h, and when they do.
pub fn auctions_of_new_sellers(offers: Blocks<'_, Offer>, drops: bool) -> Sink {
    const WINDOW: Time = 12 * HOUR_MILLIS;
    let offers = select_of_blocks(offers, |offer, time| {
        Some(match offer {
            Offer::Auction(auction) => (auction.seller, time, Some(auction.id)),
            Offer::Seller(seller) => (seller.id, time, None),
        })
    });
    let joined = fold_windows(
        offers,
        Exchange::new(|(seller, _, _): &(u64, Time, Option<u64>)| route(*seller)),
        |(seller, time, auction)| Some((end_of(time, WINDOW), (seller, time, auction))),
        |market: &mut Market, (seller, time, auction)| match auction {
            Some(auction) => market.auctions.push((auction, seller)),
            None => market.registrations.entry(seller).or_default().push(time),
        },
        |end, Market { auctions, registrations }| {
            let mut pairs = Vec::new();
            for (auction, seller) in auctions {
                let times = registrations.get(&seller).into_iter().flatten();
                pairs.extend(times.map(|time| (end, seller, auction, *time)));
            }
            pairs
        },
    );
    end(joined, drops, |(end, seller, auction, time)| numbers([end - WINDOW, seller, auction, time]))
}

/// Folds what `select` returns of the records and their event times, by windows and keys: those of a worker first, then
/// those of all.
fn fold_keys<'scope, D, S>(
    blocks: Blocks<'scope, D>,
    select: impl Fn(&D, Time) -> Option<Part<S>> + Clone + 'static,
    fold: impl Fn(&mut S, S) + Copy + 'static,
) -> Records<'scope, Part<S>>
where
    D: Timed + 'static,
    S: Default + ExchangeData,
{
    let of_workers = fold_windows(
        blocks,
        Pipeline,
        move |block| {
            let select = select.clone();
            block.select(move |record, time| select(record, time).map(|(end, key, value)| (end, (key, value))))
        },
        move |states: &mut FxHashMap<u64, S>, (key, value)| fold(states.entry(key).or_default(), value),
        parts,
    );
    fold_windows(
        of_workers,
        Exchange::new(|(_, key, _): &Part<S>| route(*key)),
        |(end, key, state)| Some((end, (key, state))),
        move |states: &mut FxHashMap<u64, S>, (key, state)| fold(states.entry(key).or_default(), state),
        parts,
    )
}

/// What a window has of each of its keys.
fn parts<S>(end: Time, states: FxHashMap<u64, S>) -> impl Iterator<Item = Part<S>> {
    states.into_iter().map(move |(key, state)| (end, key, state))
}

fn numbers<const COLUMNS: usize>(row: [u64; COLUMNS]) -> Row {
    row.map(|number| number.to_string()).to_vec()
}
