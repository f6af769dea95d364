//! NEXMark's events, as they stand in a file that Glaive's `nexmark --export-input` writes. Fields that have another
//! name there say so.

use serde::{Deserialize, Serialize};

use crate::records::{read, Timed};
use crate::Failure;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Person {
    #[serde(rename = "person")]
    pub id: u64,
    pub name: String,
    pub email: String,
    pub credit_card: String,
    pub city: String,
    pub state: String,
    #[serde(rename = "event_time_ms")]
    pub date_time: u64,
    pub extra: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Auction {
    pub id: u64,
    pub item_name: String,
    pub description: String,
    pub initial_bid: u64,
    pub reserve: u64,
    #[serde(rename = "event_time_ms")]
    pub date_time: u64,
    pub expires: u64,
    pub seller: u64,
    pub category: u64,
    pub extra: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bid {
    pub auction: u64,
    pub bidder: u64,
    pub price: u64,
    pub channel: String,
    pub url: String,
    #[serde(rename = "event_time_ms")]
    pub date_time: u64,
    pub extra: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Event {
    Person(Person),
    Auction(Auction),
    Bid(Bid),
}

impl Timed for Event {
    #[inline]
    fn event_time(&self) -> u64 {
        match self {
            Event::Person(person) => person.date_time,
            Event::Auction(auction) => auction.date_time,
            Event::Bid(bid) => bid.date_time,
        }
    }
}

impl Event {
    #[inline]
    pub fn person(self) -> Option<Person> {
        match self {
            Event::Person(person) => Some(person),
            _ => None,
        }
    }

    #[inline]
    pub fn auction(self) -> Option<Auction> {
        match self {
            Event::Auction(auction) => Some(auction),
            _ => None,
        }
    }

    #[inline]
    pub fn bid(self) -> Option<Bid> {
        match self {
            Event::Bid(bid) => Some(bid),
            _ => None,
        }
    }
}

/// The states that query 3 asks for. The crate whose events Glaive makes here has them in small letters.
#[inline]
pub fn is_local(person: &Person) -> bool {
    ["or", "id", "ca"].contains(&person.state.as_str())
}

/// Query 1 multiplies cents by 0.908: a price in thousandths of a cent, as Glaive's program shows it.
pub fn thousandths(price: u64) -> String {
    format!("{}.{:03}", price / 1_000, price % 1_000)
}

/// The events of one of the threads, which has event n of the file if n % `threads` is `thread`. They are copied once:
/// texts of a copy lie in memory in the order of the events, without gaps from what reading allocates in between.
pub fn read_share(file: &str, thread: usize, threads: usize) -> Result<Vec<Event>, Failure> {
    let share = read(file, |number, names, record| {
        if number % threads != thread {
            return Ok(None);
        }
        let kind = names.iter().position(|name| name == "kind").ok_or(format!("{file} has no column kind"))?;
        Ok(Some(match &record[kind] {
            "person" => Event::Person(record.deserialize(Some(names))?),
            "auction" => Event::Auction(record.deserialize(Some(names))?),
            "bid" => Event::Bid(record.deserialize(Some(names))?),
            other => return Err(format!("{file} has an event of the kind '{other}'").into()),
        }))
    })?;
    Ok(share.clone())
}
