//! Records of the CSV files that Glaive's `--export-input` writes, and of those in the same folder.

use std::path::Path;

use csv::StringRecord;
use serde::de::DeserializeOwned;

use crate::Failure;

/// A record that has an event time.
pub trait Timed {
    /// Milliseconds since 1970.
    fn event_time(&self) -> u64;
}

/// How often a windowed query reads its records, each time with later event times.
#[derive(Clone, Copy)]
pub struct Passes {
    pub count: u64,
    /// By how much event times move on from one pass to the next, in milliseconds.
    pub span: u64,
}

/// What `make` returns of a file's records. It has the number of a record in the file, the names of the columns, and the
/// record.
pub fn read<T>(
    file: impl AsRef<Path>,
    mut make: impl FnMut(usize, &StringRecord, &StringRecord) -> Result<Option<T>, Failure>,
) -> Result<Vec<T>, Failure> {
    let mut reader = csv::Reader::from_path(file)?;
    let names = reader.headers()?.clone();
    let mut made = Vec::new();
    let mut record = StringRecord::new();
    for number in 0.. {
        if !reader.read_record(&mut record)? {
            break;
        }
        made.extend(make(number, &names, &record)?);
    }
    Ok(made)
}

/// The records that one of Glaive's executors has read, in its order, which is that of event times. The first column says
/// whose a record is.
pub fn read_flow<T: DeserializeOwned>(file: &Path, executor: usize) -> Result<Vec<T>, Failure> {
    read(file, |_, names, record| {
        Ok(if record[0].parse::<usize>()? == executor { Some(record.deserialize(Some(names))?) } else { None })
    })
}
