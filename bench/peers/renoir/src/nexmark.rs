//! NEXMark's queries 0 to 8 as in Renoir's own example, over events that are in memory before the clock starts.
//!
//! A thread owns its share of the events and hands each on as it is, so that none is copied. Rows are those of Glaive's
//! program `nexmark`, but for the windows of queries 5, 7 and 8: Renoir's begin with the first event of a key. Without an
//! output the rows are dropped, as in the example.

use std::sync::{Arc, Mutex};

use renoir::operator::window::{TransactionOp, TransactionWindow};
use renoir::operator::{ExchangeData, Operator, Timestamp};
use renoir::prelude::*;
use renoir::Stream;
use serde::{Deserialize, Serialize};

use crate::Rows;

/// Events between two watermarks of a thread, as in Renoir's example.
const WATERMARK_INTERVAL: usize = 1 << 20;
const BATCH_SIZE: usize = 16 << 10;
const SECOND_MILLIS: i64 = 1_000;

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Person {
    id: u64,
    name: String,
    email: String,
    credit_card: String,
    city: String,
    state: String,
    date_time: i64,
    extra: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Auction {
    id: u64,
    item_name: String,
    description: String,
    initial_bid: u64,
    reserve: u64,
    date_time: i64,
    expires: i64,
    seller: u64,
    category: u64,
    extra: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Bid {
    auction: u64,
    bidder: u64,
    price: u64,
    channel: String,
    url: String,
    date_time: i64,
    extra: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Event {
    Person(Person),
    Auction(Auction),
    Bid(Bid),
}

impl Event {
    fn date_time(&self) -> i64 {
        match self {
            Event::Person(person) => person.date_time,
            Event::Auction(auction) => auction.date_time,
            Event::Bid(bid) => bid.date_time,
        }
    }

    fn bid(self) -> Option<Bid> {
        match self {
            Event::Bid(bid) => Some(bid),
            _ => None,
        }
    }
    fn person(self) -> Option<Person> {
        match self {
            Event::Person(person) => Some(person),
            _ => None,
        }
    }
    fn auction(self) -> Option<Auction> {
        match self {
            Event::Auction(auction) => Some(auction),
            _ => None,
        }
    }
}

/// The events of a file that Glaive's `nexmark --export-input` has written, the n-th one for thread n % threads.
fn read(file: &str, threads: usize) -> Result<Vec<Vec<Event>>, Box<dyn std::error::Error>> {
    let mut reader = csv::Reader::from_path(file)?;
    let names = reader.headers()?.clone();
    let place = |name: &str| names.iter().position(|each| each == name).ok_or(format!("{file} has no column {name}"));
    let [time, kind, person, name, email, card, city, state] =
        ["event_time_ms", "kind", "person", "name", "email", "credit_card", "city", "state"].map(place);
    let (time, kind, person, name) = (time?, kind?, person?, name?);
    let (email, card, city, state) = (email?, card?, city?, state?);
    let [id, initial_bid, reserve, expires, seller, category, item_name, description] =
        ["id", "initial_bid", "reserve", "expires", "seller", "category", "item_name", "description"].map(place);
    let (id, initial_bid, reserve, expires) = (id?, initial_bid?, reserve?, expires?);
    let (seller, category, item_name, description) = (seller?, category?, item_name?, description?);
    let [auction, bidder, price, channel, url, extra] =
        ["auction", "bidder", "price", "channel", "url", "extra"].map(place);
    let (auction, bidder, price) = (auction?, bidder?, price?);
    let (channel, url, extra) = (channel?, url?, extra?);
    let mut shares = vec![Vec::new(); threads];
    for (number, record) in reader.records().enumerate() {
        let record = record?;
        let text = |place: usize| record[place].to_owned();
        let date_time: i64 = record[time].parse()?;
        shares[number % threads].push(match &record[kind] {
            "person" => Event::Person(Person {
                id: record[person].parse()?,
                name: text(name),
                email: text(email),
                credit_card: text(card),
                city: text(city),
                state: text(state),
                date_time,
                extra: text(extra),
            }),
            "auction" => Event::Auction(Auction {
                id: record[id].parse()?,
                item_name: text(item_name),
                description: text(description),
                initial_bid: record[initial_bid].parse()?,
                reserve: record[reserve].parse()?,
                date_time,
                expires: record[expires].parse()?,
                seller: record[seller].parse()?,
                category: record[category].parse()?,
                extra: text(extra),
            }),
            "bid" => Event::Bid(Bid {
                auction: record[auction].parse()?,
                bidder: record[bidder].parse()?,
                price: record[price].parse()?,
                channel: text(channel),
                url: text(url),
                date_time,
                extra: text(extra),
            }),
            other => return Err(format!("{file} has an event of the kind '{other}'").into()),
        });
    }
    Ok(apart(&shares))
}

/// The same shares, each allocated by a thread of its own.
fn apart(shares: &[Vec<Event>]) -> Vec<Vec<Event>> {
    std::thread::scope(|scope| {
        let copies: Vec<_> = shares.iter().map(|share| scope.spawn(|| share.clone())).collect();
        copies.into_iter().map(|copy| copy.join().expect("a share")).collect()
    })
}

/// Gives the records their event times, with a watermark now and then.
fn timed(events: Stream<impl Operator<Out = Event> + 'static>) -> Stream<impl Operator<Out = Event>> {
    events.add_timestamps(Event::date_time, {
        let mut count = 0;
        move |_, time: &Timestamp| {
            count = (count + 1) % WATERMARK_INTERVAL;
            (count == 0).then_some(*time)
        }
    })
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
            Event::Auction(auction) => TransactionOp::CommitAfter(auction.expires),
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

/// Ends a query: `show` makes the columns of a row.
fn end<T: ExchangeData>(
    rows: Stream<impl Operator<Out = T> + 'static>,
    drops: bool,
    show: fn(T) -> Vec<String>,
) -> Rows {
    if drops {
        rows.for_each(std::mem::drop);
        return Box::new(Vec::new);
    }
    let rows = rows.collect_vec();
    Box::new(move || rows.get().expect("the rows").into_iter().map(show).collect())
}

fn row_of_bid(bid: Bid) -> Vec<String> {
    vec![
        bid.auction.to_string(),
        bid.bidder.to_string(),
        bid.price.to_string(),
        bid.date_time.to_string(),
        bid.extra,
    ]
}

pub fn build(
    env: &StreamContext,
    query: &str,
    file: &str,
    threads: usize,
    drops: bool,
) -> Result<Rows, Box<dyn std::error::Error>> {
    let shares: Vec<_> = read(file, threads)?.into_iter().map(Some).collect();
    let shares = Arc::new(Mutex::new(shares));
    let events = env
        .stream_par_iter(move |thread, _threads| {
            shares.lock().expect("the events")[thread as usize].take().expect("a share for each thread").into_iter()
        })
        .batch_mode(BatchMode::fixed(BATCH_SIZE));
    let size = EventTimeWindow::tumbling(10 * SECOND_MILLIS);
    Ok(match query {
        "q0" => end(events.filter_map(Event::bid), drops, row_of_bid),
        "q1" => end(
            events.filter_map(Event::bid).map(|mut bid| {
                bid.price *= 908;
                bid
            }),
            drops,
            |bid| {
                let price = format!("{}.{:03}", bid.price / 1_000, bid.price % 1_000);
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
            let mut kinds = events
                .route()
                .add_route(|event| matches!(event, Event::Person(_)))
                .add_route(|event| matches!(event, Event::Auction(_)))
                .build()
                .into_iter();
            let persons = kinds
                .next()
                .expect("the persons")
                .filter_map(Event::person)
                .filter(|person| ["or", "id", "ca"].contains(&person.state.as_str()));
            let auctions = kinds
                .next()
                .expect("the auctions")
                .filter_map(Event::auction)
                .filter(|auction| auction.category == 10);
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
                .fold(Vec::new(), |last: &mut Vec<(i64, u64, u64)>, (_, sale)| {
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
            let mut kinds = timed(events)
                .route()
                .add_route(|event| matches!(event, Event::Person(_)))
                .add_route(|event| matches!(event, Event::Auction(_)))
                .build()
                .into_iter();
            let persons = kinds
                .next()
                .expect("the persons")
                .filter_map(Event::person)
                .map(|person| (person.id, person.name));
            let auctions = kinds
                .next()
                .expect("the auctions")
                .filter_map(Event::auction)
                .map(|auction| (auction.seller, auction.reserve));
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
        _ => return Err(format!("there is no query '{query}'").into()),
    })
}
