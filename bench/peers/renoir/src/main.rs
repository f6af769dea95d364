//! Programs by Renoir, as its users write them, for scripts/peers.
//!
//!     glaive_peer_renoir PROGRAM THREADS FILE OUTPUT [PASSES SPAN]
//!
//! PROGRAM: `associative`, `plain` or `count-window` count words (words.rs); `collisions` answers the three questions
//! about New York's motor vehicle collisions (collisions.rs); `q0` to `q8` are NEXMark's queries (nexmark.rs); `ysb-yahoo`,
//! `ysb`, `nb7`, `cm` and `nb8` are the windowed queries of the Slash paper (windowed.rs), which read their records PASSES
//! times, each time with event times that are SPAN milliseconds later. The rows go to OUTPUT as CSV; where it is `-`, those
//! of the queries are dropped as they come. Prints how many seconds it took from the start of the execution to the last
//! row.

mod aligned_window;
mod collisions;
mod memory;
mod nexmark;
mod windowed;
mod words;

use std::time::Instant;

use glaive_peer_common::{Call, Failure};
use renoir::prelude::*;

fn main() -> Result<(), Failure> {
    let call = Call::from_command_line()?;
    let env = StreamContext::new(RuntimeConfig::local(call.threads as u64)?);
    let rows = match call.program.as_str() {
        "collisions" => collisions::build(&env, &call.file),
        query if query.starts_with('q') => nexmark::build(&env, &call)?,
        query if windowed::PROGRAMS.contains(&query) => windowed::build(&env, &call)?,
        form => words::build(&env, form, &call.file)?,
    };
    let begin = Instant::now();
    env.execute_blocking();
    call.finish(begin.elapsed().as_secs_f64(), rows)
}
