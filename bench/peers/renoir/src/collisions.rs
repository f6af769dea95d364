//! The three questions about New York's motor vehicle collisions that Glaive's program `collisions` answers, in one pass
//! over the city's CSV file.
//!
//! Rows: `weeks`, a Monday and its lethal accidents; `factors`, a contributing factor, its accidents and the lethal ones;
//! `boroughs`, a borough, a Monday, the accidents and the lethal ones. Percentages and means follow from these.

use glaive_peer_common::Rows;
use renoir::prelude::*;
use serde::{Deserialize, Serialize};

/// A line of the file. Renoir reads columns by their places, so all of them stand here.
#[derive(Clone, Serialize, Deserialize)]
struct Published {
    date: String,
    _crash_time: Option<String>,
    borough: Option<String>,
    _zip_code: Option<String>,
    _latitude: Option<String>,
    _longitude: Option<String>,
    _location: Option<String>,
    _on_street_name: Option<String>,
    _cross_street_name: Option<String>,
    _off_street_name: Option<String>,
    _number_of_persons_injured: Option<String>,
    killed: Option<u32>,
    _number_of_pedestrians_injured: Option<String>,
    _number_of_pedestrians_killed: Option<String>,
    _number_of_cyclist_injured: Option<String>,
    _number_of_cyclist_killed: Option<String>,
    _number_of_motorist_injured: Option<String>,
    _number_of_motorist_killed: Option<String>,
    factor_1: Option<String>,
    factor_2: Option<String>,
    factor_3: Option<String>,
    factor_4: Option<String>,
    factor_5: Option<String>,
    _collision_id: Option<String>,
    _vehicle_type_code_1: Option<String>,
    _vehicle_type_code_2: Option<String>,
    _vehicle_type_code_3: Option<String>,
    _vehicle_type_code_4: Option<String>,
    _vehicle_type_code_5: Option<String>,
}

#[derive(Clone, Serialize, Deserialize)]
struct Accident {
    /// Its Monday, in days since 1970.
    week: i64,
    lethal: u64,
    borough: Option<String>,
    /// Each once.
    factors: Vec<String>,
}

impl From<Published> for Accident {
    fn from(published: Published) -> Self {
        let number = |range: std::ops::Range<usize>| published.date[range].parse::<i64>().expect("a date MM/DD/YYYY");
        let day = days_since_1970(number(6..10), number(0..2), number(3..5));
        let mut factors: Vec<String> =
            [published.factor_1, published.factor_2, published.factor_3, published.factor_4, published.factor_5]
                .into_iter()
                .flatten()
                .collect();
        factors.sort_unstable();
        factors.dedup();
        Accident {
            week: day - (day + 3).rem_euclid(7),
            lethal: u64::from(published.killed.unwrap_or(0) > 0),
            borough: published.borough,
            factors,
        }
    }
}

/// Of the Gregorian calendar; years are counted from March on, so that a leap day is the last of one.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let year = if month > 2 { year } else { year - 1 };
    let month_from_march = (month + 9) % 12;
    365 * year + year / 4 - year / 100 + year / 400 + (153 * month_from_march + 2) / 5 + day - 1 - 719_468
}

/// Counts of accidents, and of the lethal ones among them.
type Counts = (u64, u64);

fn merge(counts: &mut Counts, other: Counts) {
    counts.0 += other.0;
    counts.1 += other.1;
}

pub fn build(env: &StreamContext, file: &str) -> Rows {
    let mut accidents =
        env.stream_csv::<Published>(file).batch_mode(BatchMode::fixed(1024)).map(Accident::from).split(3).into_iter();
    let mut next = || accidents.next().expect("three streams");
    let weeks = next()
        .group_by_fold(|a| a.week, 0u64, |lethal, a| *lethal += a.lethal, |lethal, other| *lethal += other)
        .unkey()
        .collect_vec();
    let factors = next()
        .flat_map(|a| {
            let lethal = a.lethal;
            a.factors.into_iter().map(move |factor| (factor, lethal))
        })
        .group_by_fold(|(factor, _)| factor.clone(), Counts::default(), |c, (_, lethal)| merge(c, (1, lethal)), merge)
        .unkey()
        .collect_vec();
    let boroughs = next()
        .filter_map(|a| a.borough.map(|borough| (borough, a.week, a.lethal)))
        .group_by_fold(
            |(borough, week, _)| (borough.clone(), *week),
            Counts::default(),
            |c, (_, _, l)| merge(c, (1, l)),
            merge,
        )
        .unkey()
        .collect_vec();
    Box::new(move || {
        let mut rows: Vec<Vec<String>> = Vec::new();
        for (week, lethal) in weeks.get().expect("the weeks") {
            rows.push(vec!["weeks".into(), week.to_string(), lethal.to_string()]);
        }
        for (factor, (accidents, lethal)) in factors.get().expect("the factors") {
            rows.push(vec!["factors".into(), factor, accidents.to_string(), lethal.to_string()]);
        }
        for ((borough, week), (accidents, lethal)) in boroughs.get().expect("the boroughs") {
            rows.push(vec!["boroughs".into(), borough, week.to_string(), accidents.to_string(), lethal.to_string()]);
        }
        rows
    })
}
