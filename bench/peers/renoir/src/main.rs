//! Word counts by Renoir, as its users write them, for scripts/peers: the same words of the same lines as Glaive's
//! program `wordcount` counts.
//!
//!     glaive_peer_renoir FORM THREADS FILE OUTPUT
//!
//! FORM: `associative`, each thread counts the words that it reads, and the counts are merged; `plain`, each word moves
//! to the thread that counts it; `count-window`, likewise, with a row for each ten times of a word, every five times.
//! The rows go to OUTPUT, `word,count` a line. Prints how many seconds it took from the first line to the last row.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::time::Instant;

use renoir::prelude::*;

/// The longest runs of ASCII letters, digits and bytes from 0x80 on, as in queries/wordcount/words.h.
fn words(line: &str) -> Vec<String> {
    line.split(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

fn run(form: &str, threads: u64, file: &str) -> (Vec<(String, u64)>, f64) {
    let env = StreamContext::new(RuntimeConfig::local(threads).expect("a number of threads"));
    let words = env
        .stream_file(file)
        .batch_mode(BatchMode::fixed(1024))
        .flat_map(|line| words(&line));
    let rows = match form {
        "associative" => words
            .group_by_fold(|word| word.clone(), 0u64, |count, _| *count += 1, |count, other| *count += other)
            .unkey()
            .collect_vec(),
        "plain" => words
            .group_by(|word| word.clone())
            .fold(0u64, |count, _| *count += 1)
            .unkey()
            .collect_vec(),
        "count-window" => words
            .group_by(|word| word.clone())
            .window(CountWindow::new(10, 5, false))
            .fold(0u64, |count, _| *count += 1)
            .unkey()
            .collect_vec(),
        _ => panic!("unknown form {form}: associative, plain or count-window"),
    };
    let begin = Instant::now();
    env.execute_blocking();
    let rows = rows.get().expect("the rows");
    (rows, begin.elapsed().as_secs_f64())
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, form, threads, file, output] = &arguments[..] else {
        eprintln!("usage: glaive_peer_renoir FORM THREADS FILE OUTPUT");
        std::process::exit(2);
    };
    let (rows, seconds) = run(form, threads.parse().expect("THREADS is a number"), file);
    let mut out = BufWriter::new(File::create(output)?);
    for (word, count) in rows {
        writeln!(out, "{word},{count}")?;
    }
    out.flush()?;
    println!("{seconds}");
    Ok(())
}
