//! The auctions that have a winning bid, of which queries 4 and 6 compute means.
//!
//! A bid counts that comes while its auction is open and reaches its reserve; the highest one wins. An auction is
//! closed and forgotten once the frontier has reached its end. A bid may come before its auction. It waits until the
//! auction comes or the frontier passes it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use glaive_peer_common::nexmark::{Auction, Event};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::Operator;

use crate::operators::{advance, reached, route, split, Events, Records, Time};

/// What is asked of an auction. `group` is its category or seller.
#[derive(Serialize, Deserialize)]
pub struct Terms {
    pub id: u64,
    pub group: u64,
    pub expires: Time,
    date_time: Time,
    reserve: u64,
}

/// What is asked of a bid.
#[derive(Serialize, Deserialize)]
struct Offer {
    auction: u64,
    price: u64,
    date_time: Time,
}

struct OpenAuction {
    terms: Terms,
    highest: Option<u64>,
}

impl OpenAuction {
    fn consider(&mut self, offer: &Offer) {
        let Terms { date_time, expires, reserve, .. } = self.terms;
        if offer.price >= reserve && (date_time..expires).contains(&offer.date_time) {
            self.highest = self.highest.max(Some(offer.price));
        }
    }
}

/// What `show` makes of each closed auction and its winning price.
pub fn winning_bids<'scope, O: 'static>(
    events: Events<'scope>,
    group: fn(&Auction) -> u64,
    show: fn(&Terms, u64) -> O,
) -> Records<'scope, O> {
    let (auctions, offers) = split(events, move |event| match event {
        Event::Auction(auction) => Some(Ok(Terms {
            id: auction.id,
            group: group(&auction),
            expires: auction.expires,
            date_time: auction.date_time,
            reserve: auction.reserve,
        })),
        Event::Bid(bid) => Some(Err(Offer { auction: bid.auction, price: bid.price, date_time: bid.date_time })),
        Event::Person(_) => None,
    });
    let by_id = Exchange::new(|terms: &Terms| route(terms.id));
    let by_auction = Exchange::new(|offer: &Offer| route(offer.auction));
    auctions.binary_frontier(offers, by_id, by_auction, "WinningBids", move |capability, _| {
        let mut capability = Some(capability);
        let mut open: FxHashMap<u64, OpenAuction> = FxHashMap::default();
        let mut ends: BinaryHeap<Reverse<(Time, u64)>> = BinaryHeap::new();
        let mut early: Vec<Offer> = Vec::new();
        move |(auctions, frontier_of_auctions), (offers, frontier_of_offers), output| {
            auctions.for_each(|_, batch| {
                for terms in batch.drain(..) {
                    ends.push(Reverse((terms.expires, terms.id)));
                    open.insert(terms.id, OpenAuction { terms, highest: None });
                }
            });
            offers.for_each(|_, batch| {
                for offer in batch.drain(..) {
                    match open.get_mut(&offer.auction) {
                        Some(auction) => auction.consider(&offer),
                        None => early.push(offer),
                    }
                }
            });
            let reached = reached(frontier_of_auctions).min(reached(frontier_of_offers));
            early.retain(|offer| match open.get_mut(&offer.auction) {
                Some(auction) => {
                    auction.consider(offer);
                    false
                }
                None => offer.date_time >= reached,
            });
            if let Some(held) = &capability {
                let mut session = output.session(held);
                while let Some(Reverse((_, id))) = ends.peek().copied().filter(|Reverse((end, _))| *end <= reached) {
                    ends.pop();
                    let closed = open.remove(&id).expect("an open auction");
                    if let Some(price) = closed.highest {
                        session.give(show(&closed.terms, price));
                    }
                }
            }
            advance(&mut capability, reached);
        }
    })
}
