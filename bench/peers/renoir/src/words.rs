//! Counts the words of a text, the same words that Glaive's program `wordcount` counts.
//!
//! `associative`: each thread counts the words that it reads, and the counts are merged. `plain`: each word moves to the
//! thread that counts it. `count-window`: likewise, with a row for each ten times of a word, every five times.
//! Rows are of a word and its count.

use glaive_peer_common::Rows;
use renoir::prelude::*;

/// The longest runs of ASCII letters, digits and bytes from 0x80 on, as in queries/wordcount/words.h.
fn words(line: &str) -> Vec<String> {
    line.split(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

pub fn build(env: &StreamContext, form: &str, file: &str) -> Result<Rows, String> {
    let words = env.stream_file(file).batch_mode(BatchMode::fixed(1024)).flat_map(|line| words(&line));
    let counts = match form {
        "associative" => words
            .group_by_fold(|word| word.clone(), 0u64, |count, _| *count += 1, |count, other| *count += other)
            .unkey()
            .collect_vec(),
        "plain" => words.group_by(|word| word.clone()).fold(0u64, |count, _| *count += 1).unkey().collect_vec(),
        "count-window" => words
            .group_by(|word| word.clone())
            .window(CountWindow::new(10, 5, false))
            .fold(0u64, |count, _| *count += 1)
            .unkey()
            .collect_vec(),
        _ => return Err(format!("there is no program '{form}'")),
    };
    Ok(Box::new(move || {
        let counts = counts.get().expect("the rows");
        counts.into_iter().map(|(word, count)| vec![word, count.to_string()]).collect()
    }))
}
