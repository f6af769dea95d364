//! The records of the windowed queries of the Slash paper, as they stand in files that Glaive writes. Fields that have
//! another name there say so. A record has as many bytes as Glaive's, rounded up to a multiple of 8.

use std::path::Path;

use rustc_hash::FxHashMap;
use serde::Deserialize;

use crate::records::{read, read_flow, Timed};
use crate::Failure;

/// Fields that no query reads and no file has.
#[derive(Clone, Copy)]
pub struct Others<const BYTES: usize>(pub [u8; BYTES]);

impl<const BYTES: usize> Default for Others<BYTES> {
    fn default() -> Self {
        Others([0; BYTES])
    }
}

/// An event of `ysb`, of 80 bytes.
#[derive(Clone, Deserialize)]
pub struct AdEvent {
    pub ad_id: u64,
    #[serde(rename = "event_time_ms")]
    pub time: u64,
    pub event_type: u8,
    #[serde(skip)]
    pub others: Others<63>,
}

impl AdEvent {
    #[inline]
    pub fn is_view(&self) -> bool {
        self.event_type == 0
    }
}

/// A bid of `nb7`, of 32 bytes.
#[derive(Clone, Deserialize)]
pub struct Bid {
    pub auction: u64,
    pub bidder: u64,
    pub price: u64,
    #[serde(rename = "event_time_ms")]
    pub time: u64,
}

/// A task event of `cm`, of 64 bytes.
#[derive(Clone, Deserialize)]
pub struct TaskEvent {
    #[serde(rename = "event_time_ms")]
    pub time: u64,
    pub job_id: u64,
    pub task_index: u64,
    pub machine_id: u64,
    pub event_type: i32,
    pub category: i32,
    pub priority: i32,
    pub cpu: f32,
    #[serde(skip)]
    pub others: Others<16>,
}

/// An auction of `nb8`, of 272 bytes.
#[derive(Clone, Deserialize)]
pub struct Auction {
    #[serde(rename = "auction")]
    pub id: u64,
    pub seller: u64,
    #[serde(rename = "event_time_ms")]
    pub time: u64,
    #[serde(skip)]
    pub others: Others<248>,
}

/// A registration of `nb8`, of 208 bytes.
#[derive(Clone, Deserialize)]
pub struct Seller {
    #[serde(rename = "seller")]
    pub id: u64,
    #[serde(rename = "event_time_ms")]
    pub time: u64,
    #[serde(skip)]
    pub others: Others<192>,
}

/// A record of `nb8`, whose two inputs are one stream. It has the bytes of an auction, and 8 at most to say which it is.
#[derive(Clone)]
pub enum Offer {
    Auction(Auction),
    Seller(Seller),
}

impl Timed for AdEvent {
    fn event_time(&self) -> u64 {
        self.time
    }
}

impl Timed for Bid {
    fn event_time(&self) -> u64 {
        self.time
    }
}

impl Timed for TaskEvent {
    fn event_time(&self) -> u64 {
        self.time
    }
}

impl Timed for Offer {
    fn event_time(&self) -> u64 {
        match self {
            Offer::Auction(auction) => auction.time,
            Offer::Seller(seller) => seller.time,
        }
    }
}

/// The flow of one of Glaive's executors over both inputs of `nb8`, in the order of event times: auctions are in `file`,
/// sellers in `sellers.csv` beside it.
pub fn read_offers(file: &Path, executor: usize) -> Result<Vec<Offer>, Failure> {
    let auctions: Vec<Auction> = read_flow(file, executor)?;
    let sellers: Vec<Seller> = read_flow(&file.with_file_name("sellers.csv"), executor)?;
    let mut offers = Vec::with_capacity(auctions.len() + sellers.len());
    let mut auctions = auctions.into_iter().peekable();
    for seller in sellers {
        while let Some(auction) = auctions.next_if(|auction| auction.time < seller.time) {
            offers.push(Offer::Auction(auction));
        }
        offers.push(Offer::Seller(seller));
    }
    offers.extend(auctions.map(Offer::Auction));
    Ok(offers)
}

/// The campaigns of the ads, which stand in `ads.csv` beside `file`.
pub fn read_campaigns(file: &str) -> Result<FxHashMap<u64, u64>, Failure> {
    let ads = Path::new(file).with_file_name("ads.csv");
    let rows = read(ads, |_, names, row| Ok(Some(row.deserialize(Some(names))?)))?;
    Ok(rows.into_iter().collect())
}
