//! NEXMark's queries 0 to 8. Rows are those of Glaive's program `nexmark`: windows end at multiples of their slide.
//!
//! The first operator of a query moves what the query needs out of the events. Only that is exchanged.

use std::cmp::{Ordering, Reverse};
use std::rc::Rc;

use glaive_peer_common::nexmark::{is_local, thousandths, Event};
use glaive_peer_common::Row;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};
use timely::dataflow::channels::pact::{Exchange, Pipeline};
use timely::dataflow::operators::Operator;

use crate::operators::{end, end_of, fold_windows, route, select, Events, Records, Sink, Time};
use crate::winning_bids::winning_bids;

pub const QUERIES: [&str; 9] = ["q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7", "q8"];

const WINDOW_MILLIS: Time = 10_000;
/// Query 5's windows begin and end so often.
const SLIDE_MILLIS: Time = 2_000;

/// A bid without its channel and URL.
#[derive(Serialize, Deserialize)]
struct BidRow {
    auction: u64,
    bidder: u64,
    price: u64,
    date_time: Time,
    extra: String,
}

impl BidRow {
    fn of(event: Event) -> Option<BidRow> {
        let Event::Bid(bid) = event else { return None };
        Some(BidRow {
            auction: bid.auction,
            bidder: bid.bidder,
            price: bid.price,
            date_time: bid.date_time,
            extra: bid.extra,
        })
    }

    fn show(self, price: String) -> Row {
        vec![self.auction.to_string(), self.bidder.to_string(), price, self.date_time.to_string(), self.extra]
    }
}

pub fn build(query: &str, events: Events<'_>, drops: bool) -> Sink {
    match query {
        "q0" => end(select(events, BidRow::of), drops, show_bid),
        "q1" => end(select(events, in_euros), drops, |bid| {
            let price = thousandths(bid.price);
            bid.show(price)
        }),
        "q2" => {
            end(select(events, selected_price), drops, |(auction, price)| vec![auction.to_string(), price.to_string()])
        }
        "q3" => end(local_items(events), drops, |(place, auction)| {
            vec![place.name.clone(), place.city.clone(), place.state.clone(), auction.to_string()]
        }),
        "q4" => end(mean_of_categories(events), drops, show_mean),
        "q5" => end(hot_items(events), drops, |(window_end, auction, count)| {
            [auction, count, window_end - WINDOW_MILLIS, window_end].map(|number| number.to_string()).to_vec()
        }),
        "q6" => end(mean_of_sellers(events), drops, show_mean),
        "q7" => end(highest_bids(events), drops, show_bid),
        "q8" => end(new_sellers(events), drops, |(id, name, start)| vec![id.to_string(), name, start.to_string()]),
        _ => unreachable!("a query that QUERIES does not have"),
    }
}

fn show_bid(bid: BidRow) -> Row {
    let price = bid.price.to_string();
    bid.show(price)
}

fn show_mean((group, mean): (u64, u64)) -> Row {
    vec![group.to_string(), mean.to_string()]
}

/// Query 1: prices become thousandths.
fn in_euros(event: Event) -> Option<BidRow> {
    let mut bid = BidRow::of(event)?;
    bid.price *= 908;
    Some(bid)
}

/// Query 2.
fn selected_price(event: Event) -> Option<(u64, u64)> {
    match event {
        Event::Bid(bid) if bid.auction % 123 == 0 => Some((bid.auction, bid.price)),
        _ => None,
    }
}

/// Where a local seller lives.
#[derive(Serialize, Deserialize)]
struct Place {
    name: String,
    city: String,
    state: String,
}

/// A local seller, or an auction of category 10.
#[derive(Serialize, Deserialize)]
enum Side {
    Seller(Place),
    Auction(u64),
}

/// Query 3. An auction that comes before its seller waits.
fn local_items(events: Events<'_>) -> Records<'_, (Rc<Place>, u64)> {
    let sides = select(events, |event| match event {
        Event::Person(person) if is_local(&person) => {
            let place = Place { name: person.name, city: person.city, state: person.state };
            Some((person.id, Side::Seller(place)))
        }
        Event::Auction(auction) if auction.category == 10 => Some((auction.seller, Side::Auction(auction.id))),
        _ => None,
    });
    let by_seller = Exchange::new(|(seller, _): &(u64, Side)| route(*seller));
    sides.unary(by_seller, "LocalItems", |_, _| {
        let mut places: FxHashMap<u64, Rc<Place>> = FxHashMap::default();
        let mut waiting: FxHashMap<u64, Vec<u64>> = FxHashMap::default();
        move |input, output| {
            input.for_each(|capability, batch| {
                let mut session = output.session(&capability);
                for (seller, side) in batch.drain(..) {
                    match side {
                        Side::Seller(place) => {
                            let place = Rc::new(place);
                            for auction in waiting.remove(&seller).unwrap_or_default() {
                                session.give((Rc::clone(&place), auction));
                            }
                            places.insert(seller, place);
                        }
                        Side::Auction(auction) => match places.get(&seller) {
                            Some(place) => session.give((Rc::clone(place), auction)),
                            None => waiting.entry(seller).or_default().push(auction),
                        },
                    }
                }
            });
        }
    })
}

/// Query 4: categories and their means, at the end of the stream.
fn mean_of_categories(events: Events<'_>) -> Records<'_, (u64, u64)> {
    let prices = winning_bids(events, |auction| auction.category, |terms, price| (terms.group, price));
    fold_windows(
        prices,
        Exchange::new(|(category, _): &(u64, u64)| route(*category)),
        |price| Some((Time::MAX, price)),
        |categories: &mut FxHashMap<u64, (u64, u64)>, (category, price)| {
            let (sum, count) = categories.entry(category).or_default();
            *sum += price;
            *count += 1;
        },
        |_, categories| categories.into_iter().map(|(category, (sum, count))| (category, sum / count)),
    )
}

/// Query 5: a window's end, its auction with the most bids, and their count; of auctions that tie the one with the
/// least id. A worker counts the bids of each slide. A window has the counts of five slides.
fn hot_items(events: Events<'_>) -> Records<'_, (Time, u64, u64)> {
    let counts_of_slides = fold_windows(
        events,
        Pipeline,
        |event| match event {
            Event::Bid(bid) => Some((end_of(bid.date_time, SLIDE_MILLIS), bid.auction)),
            _ => None,
        },
        |counts: &mut FxHashMap<u64, u64>, auction| *counts.entry(auction).or_default() += 1,
        |first_end, counts| {
            let ends = (first_end..first_end + WINDOW_MILLIS).step_by(SLIDE_MILLIS as usize);
            ends.flat_map(move |end| counts.clone().into_iter().map(move |(auction, count)| (end, auction, count)))
        },
    );
    let hottest_of_workers = fold_windows(
        counts_of_slides,
        Exchange::new(|(_, auction, _): &(Time, u64, u64)| route(*auction)),
        |(end, auction, count)| Some((end, (auction, count))),
        |counts: &mut FxHashMap<u64, u64>, (auction, count)| *counts.entry(auction).or_default() += count,
        |end, counts| hottest(counts).map(|(auction, count)| (end, auction, count)),
    );
    fold_windows(
        hottest_of_workers,
        Exchange::new(|(end, _, _): &(Time, u64, u64)| route(*end)),
        |(end, auction, count)| Some((end, (auction, count))),
        |candidates: &mut Vec<(u64, u64)>, candidate| candidates.push(candidate),
        |end, candidates| hottest(candidates).map(|(auction, count)| (end, auction, count)),
    )
}

fn hottest(counts: impl IntoIterator<Item = (u64, u64)>) -> Option<(u64, u64)> {
    counts.into_iter().max_by_key(|(auction, count)| (*count, Reverse(*auction)))
}

/// Query 6: sellers and the means of their last ten sales, at the end of the stream.
fn mean_of_sellers(events: Events<'_>) -> Records<'_, (u64, u64)> {
    let sales =
        winning_bids(events, |auction| auction.seller, |terms, price| (terms.group, (terms.expires, terms.id, price)));
    fold_windows(
        sales,
        Exchange::new(|(seller, _): &(u64, (Time, u64, u64))| route(*seller)),
        |sale| Some((Time::MAX, sale)),
        |sellers: &mut FxHashMap<u64, Vec<(Time, u64, u64)>>, (seller, sale)| {
            let last = sellers.entry(seller).or_default();
            let place = last.partition_point(|each| *each < sale);
            last.insert(place, sale);
            if last.len() > 10 {
                last.remove(0);
            }
        },
        |_, sellers| {
            sellers.into_iter().map(|(seller, last)| {
                let sum: u64 = last.iter().map(|(_, _, price)| price).sum();
                (seller, sum / last.len() as u64)
            })
        },
    )
}

/// Query 7: those of a worker first, then those of all.
fn highest_bids(events: Events<'_>) -> Records<'_, BidRow> {
    let window_of = |bid: &BidRow| end_of(bid.date_time, WINDOW_MILLIS);
    let of_workers = fold_windows(
        events,
        Pipeline,
        move |event| BidRow::of(event).map(|bid| (window_of(&bid), bid)),
        retain_highest,
        |_, bids| bids,
    );
    fold_windows(
        of_workers,
        Exchange::new(move |bid: &BidRow| route(window_of(bid))),
        move |bid| Some((window_of(&bid), bid)),
        retain_highest,
        |_, bids| bids,
    )
}

/// Bids that tie for the highest price stay together.
fn retain_highest(highest: &mut Vec<BidRow>, bid: BidRow) {
    match highest.first().map_or(Ordering::Equal, |other| bid.price.cmp(&other.price)) {
        Ordering::Less => {}
        Ordering::Equal => highest.push(bid),
        Ordering::Greater => {
            highest.clear();
            highest.push(bid);
        }
    }
}

/// Who registers, and who sells, in a window.
#[derive(Default)]
struct Users {
    registered: Vec<(u64, String)>,
    sellers: FxHashSet<u64>,
}

/// Query 8: new users that sell in the window in which they register, and where it starts.
fn new_sellers(events: Events<'_>) -> Records<'_, (u64, String, Time)> {
    let users = select(events, |event| match event {
        Event::Person(person) => Some((end_of(person.date_time, WINDOW_MILLIS), person.id, Some(person.name))),
        Event::Auction(auction) => Some((end_of(auction.date_time, WINDOW_MILLIS), auction.seller, None)),
        Event::Bid(_) => None,
    });
    fold_windows(
        users,
        Exchange::new(|(_, id, _): &(Time, u64, Option<String>)| route(*id)),
        |(end, id, name)| Some((end, (id, name))),
        |users: &mut Users, (id, name)| match name {
            Some(name) => users.registered.push((id, name)),
            None => {
                users.sellers.insert(id);
            }
        },
        |end, Users { registered, sellers }| {
            let new = registered.into_iter().filter(move |(id, _)| sellers.contains(id));
            new.map(move |(id, name)| (id, name, end - WINDOW_MILLIS))
        },
    )
}
