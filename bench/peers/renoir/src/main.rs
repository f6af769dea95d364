//! Programs by Renoir, as its users write them, for scripts/peers.
//!
//!     glaive_peer_renoir PROGRAM THREADS FILE OUTPUT
//!
//! PROGRAM: `associative`, `plain` or `count-window` count words (words.rs); `collisions` answers the three questions
//! about New York's motor vehicle collisions (collisions.rs). The rows go to OUTPUT as CSV. Prints how many seconds it
//! took from the start of the execution to the last row.

mod collisions;
mod words;

use std::time::Instant;

use renoir::prelude::*;

/// Rows of a program, once it has run.
pub type Rows = Box<dyn FnOnce() -> Vec<Vec<String>>>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, program, threads, file, output] = &arguments[..] else {
        return Err("usage: glaive_peer_renoir PROGRAM THREADS FILE OUTPUT".into());
    };
    let env = StreamContext::new(RuntimeConfig::local(threads.parse()?)?);
    let rows = match program.as_str() {
        "collisions" => collisions::build(&env, file),
        form => words::build(&env, form, file)?,
    };
    let begin = Instant::now();
    env.execute_blocking();
    let seconds = begin.elapsed().as_secs_f64();
    let mut out = csv::WriterBuilder::new().flexible(true).from_path(output)?;
    for row in rows() {
        out.write_record(row)?;
    }
    out.flush()?;
    println!("{seconds}");
    Ok(())
}
