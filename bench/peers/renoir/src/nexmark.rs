//! NEXMark's queries 0 to 8 as in Renoir's own example, over events that are in memory before the clock starts.
//!
//! Rows are those of Glaive's program `nexmark`, but for the windows of queries 5, 7 and 8: Renoir's begin with the first
//! event of a key. Without an output the rows are dropped, as in the example.

use glaive_peer_common::nexmark::{is_local, read_share, thousandths, Auction, Bid, Event, Person};
use glaive_peer_common::records::Timed;
use glaive_peer_common::{Call, Failure, Row, Rows};
use renoir::operator::window::{TransactionOp, TransactionWindow};
use renoir::operator::{Operator, Timestamp};
use renoir::prelude::*;
use renoir::Stream;

use crate::memory::{end, read_shares, stream};

/// Events between two watermarks of a thread, as in Renoir's example.
const WATERMARK_INTERVAL: usize = 1 << 20;
const SECOND_MILLIS: i64 = 1_000;

/// Gives the records their event times, with a watermark now and then.
fn timed(events: Stream<impl Operator<Out = Event> + 'static>) -> Stream<impl Operator<Out = Event>> {
    events.add_timestamps(|event| event.event_time() as i64, {
        let mut count = 0;
        move |_, time: &Timestamp| {
            count = (count + 1) % WATERMARK_INTERVAL;
            (count == 0).then_some(*time)
        }
    })
}

/// The persons and the auctions, in streams of their own.
fn persons_and_auctions(
    events: Stream<impl Operator<Out = Event> + 'static>,
) -> (Stream<impl Operator<Out = Person>>, Stream<impl Operator<Out = Auction>>) {
    let mut kinds = events
        .route()
        .add_route(|event| matches!(event, Event::Person(_)))
        .add_route(|event| matches!(event, Event::Auction(_)))
        .build()
        .into_iter();
    let mut next = || kinds.next().expect("two routes");
    (next().filter_map(Event::person), next().filter_map(Event::auction))
}

/// The auctions that have ended, each with its highest bid.
fn winning_bids(events: Stream<impl Operator<Out = Event> + 'static>) -> Stream<impl Operator<Out = (Auction, Bid)>> {
    timed(events.filter(|event| !matches!(event, Event::Person(_))))
        .group_by(|event| match event {
            Event::Auction(auction) => auction.id,
            Event::Bid(bid) => bid.auction,
            Event::Person(_) => unreachable!(),
        })
        .window(TransactionWindow::new(|event: &Event| match event {
            Event::Auction(auction) => TransactionOp::CommitAfter(auction.expires as i64),
            _ => TransactionOp::Continue,
        }))
        .fold((None, Vec::new()), |(auction, bids): &mut (Option<Auction>, Vec<Bid>), event| match event.clone() {
            Event::Auction(ended) => {
                let winner = bids.drain(..).filter(|bid| counts(bid, &ended)).max_by_key(|bid| bid.price);
                *auction = Some(ended);
                bids.extend(winner);
            }
            Event::Bid(bid) => match auction {
                Some(open) => {
                    if counts(&bid, open) && bids.first().map_or(true, |highest| bid.price > highest.price) {
                        bids.clear();
                        bids.push(bid);
                    }
                }
                None => bids.push(bid),
            },
            Event::Person(_) => unreachable!(),
        })
        .drop_key()
        .filter_map(|(auction, mut bids)| Some((auction?, bids.pop()?)))
}

fn counts(bid: &Bid, auction: &Auction) -> bool {
    bid.price >= auction.reserve && (auction.date_time..auction.expires).contains(&bid.date_time)
}

fn row_of_bid(bid: Bid) -> Row {
    vec![bid.auction.to_string(), bid.bidder.to_string(), bid.price.to_string(), bid.date_time.to_string(), bid.extra]
}

pub fn build(env: &StreamContext, call: &Call) -> Result<Rows, Failure> {
    let drops = call.drops();
    let shares = read_shares(call.threads, |thread| read_share(&call.file, thread, call.threads))?;
    let events = stream(env, shares);
    let size = EventTimeWindow::tumbling(10 * SECOND_MILLIS);
    Ok(match call.program.as_str() {
        "q0" => end(events.filter_map(Event::bid), drops, row_of_bid),
        "q1" => end(
            events.filter_map(Event::bid).map(|mut bid| {
                bid.price *= 908;
                bid
            }),
            drops,
            |bid| {
                let price = thousandths(bid.price);
                let mut row = row_of_bid(bid);
                row[2] = price;
                row
            },
        ),
        "q2" => end(
            events.filter_map(Event::bid).filter(|bid| bid.auction % 123 == 0).map(|bid| (bid.auction, bid.price)),
            drops,
            |(auction, price)| vec![auction.to_string(), price.to_string()],
        ),
        "q3" => {
            let (persons, auctions) = persons_and_auctions(events);
            let persons = persons.filter(is_local);
            let auctions = auctions.filter(|auction| auction.category == 10);
            end(
                persons
                    .join(auctions, |person| person.id, |auction| auction.seller)
                    .drop_key()
                    .map(|(person, auction)| (person.name, person.city, person.state, auction.id)),
                drops,
                |(name, city, state, id)| vec![name, city, state, id.to_string()],
            )
        }
        "q4" => end(
            winning_bids(events)
                .map(|(auction, bid)| (auction.category, bid.price))
                .group_by_fold(
                    |(category, _)| *category,
                    (0u64, 0u64),
                    |(sum, count), (_, price)| {
                        *sum += price;
                        *count += 1;
                    },
                    |(sum, count), (other_sum, other_count)| {
                        *sum += other_sum;
                        *count += other_count;
                    },
                )
                .unkey(),
            drops,
            |(category, (sum, count))| vec![category.to_string(), (sum / count).to_string()],
        ),
        "q5" => {
            let sliding = EventTimeWindow::sliding(10 * SECOND_MILLIS, 2 * SECOND_MILLIS);
            end(
                timed(events)
                    .filter_map(Event::bid)
                    .map(|bid| bid.auction)
                    .group_by(|auction| *auction)
                    .map(|_| ())
                    .window(sliding.clone())
                    .count()
                    .unkey()
                    .window_all(sliding)
                    .max_by_key(|(_, count)| *count)
                    .drop_key(),
                drops,
                |(auction, count)| vec![auction.to_string(), count.to_string()],
            )
        }
        "q6" => end(
            winning_bids(events)
                .map(|(auction, bid)| (auction.seller, (auction.expires, auction.id, bid.price)))
                .group_by(|(seller, _)| *seller)
                .fold(Vec::new(), |last: &mut Vec<(u64, u64, u64)>, (_, sale)| {
                    let place = last.partition_point(|each| *each < sale);
                    last.insert(place, sale);
                    if last.len() > 10 {
                        last.remove(0);
                    }
                })
                .unkey(),
            drops,
            |(seller, last)| {
                let sum: u64 = last.iter().map(|(_, _, price)| price).sum();
                vec![seller.to_string(), (sum / last.len() as u64).to_string()]
            },
        ),
        "q7" => end(
            timed(events)
                .filter_map(Event::bid)
                .map(|bid| (bid.auction, bid.price, bid.bidder))
                .key_by(|_| ())
                .window(size.clone())
                .max_by_key(|(_, price, _)| *price)
                .drop_key()
                .window_all(size)
                .max_by_key(|(_, price, _)| *price)
                .drop_key(),
            drops,
            |(auction, price, bidder)| vec![auction.to_string(), price.to_string(), bidder.to_string()],
        ),
        "q8" => {
            let (persons, auctions) = persons_and_auctions(timed(events));
            let persons = persons.map(|person| (person.id, person.name));
            let auctions = auctions.map(|auction| (auction.seller, auction.reserve));
            end(
                persons
                    .group_by(|(id, _)| *id)
                    .window_join(size, auctions.group_by(|(seller, _)| *seller))
                    .drop_key()
                    .map(|((id, name), (_, reserve))| (id, name, reserve)),
                drops,
                |(id, name, reserve)| vec![id.to_string(), name, reserve.to_string()],
            )
        }
        query => return Err(format!("there is no query '{query}'").into()),
    })
}
