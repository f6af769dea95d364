//! Programs by Renoir, as its users write them, for scripts/peers.
//!
//!     glaive_peer_renoir PROGRAM THREADS FILE OUTPUT
//!
//! PROGRAM: `associative`, `plain` or `count-window` count words (words.rs); `collisions` answers the three questions
//! about New York's motor vehicle collisions (collisions.rs); `q0` to `q8` are NEXMark's queries (nexmark.rs). The rows go
//! to OUTPUT as CSV; where it is `-`, NEXMark's are dropped as they come. Prints how many seconds it took from the start of
//! the execution to the last row.

mod collisions;
mod nexmark;
mod words;

use std::time::Instant;

use renoir::prelude::*;

/// With glibc's allocator, threads that free what another thread has allocated wait for each other.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Rows of a program, once it has run.
pub type Rows = Box<dyn FnOnce() -> Vec<Vec<String>>>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, program, threads, file, output] = &arguments[..] else {
        return Err("usage: glaive_peer_renoir PROGRAM THREADS FILE OUTPUT".into());
    };
    let env = StreamContext::new(RuntimeConfig::local(threads.parse()?)?);
    let drops = output == "-";
    let rows = match program.as_str() {
        "collisions" => collisions::build(&env, file),
        query if query.starts_with('q') => nexmark::build(&env, query, file, threads.parse()?, drops)?,
        form => words::build(&env, form, file)?,
    };
    let begin = Instant::now();
    env.execute_blocking();
    let seconds = begin.elapsed().as_secs_f64();
    if !drops {
        let mut out = csv::WriterBuilder::new().flexible(true).from_path(output)?;
        for row in rows() {
            out.write_record(row)?;
        }
        out.flush()?;
    }
    println!("{seconds}");
    Ok(())
}
