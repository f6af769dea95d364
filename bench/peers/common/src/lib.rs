//! What the programs share: their allocator, command line and rows (this file), what reads their records (records.rs),
//! NEXMark's events (nexmark.rs) and the records of the windowed queries (windowed.rs).

pub mod nexmark;
pub mod records;
pub mod windowed;

use std::error::Error;

use crate::records::Passes;

/// With glibc's allocator, threads that free what another thread has allocated wait for each other.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

pub type Failure = Box<dyn Error + Send + Sync>;

/// The columns of a row, as texts.
pub type Row = Vec<String>;

/// Rows of a program, once it has run.
pub type Rows = Box<dyn FnOnce() -> Vec<Row>>;

/// What scripts/peers asks for on the command line: PROGRAM THREADS FILE OUTPUT [PASSES SPAN]. Only the windowed queries
/// read their records in several passes.
pub struct Call {
    pub program: String,
    pub threads: usize,
    pub file: String,
    pub passes: Passes,
    output: String,
}

impl Call {
    pub fn from_command_line() -> Result<Call, Failure> {
        let arguments: Vec<String> = std::env::args().collect();
        let (program, threads, file, output, passes) = match &arguments[..] {
            [_, program, threads, file, output] => (program, threads, file, output, Passes { count: 1, span: 0 }),
            [_, program, threads, file, output, count, span] => {
                (program, threads, file, output, Passes { count: count.parse()?, span: span.parse()? })
            }
            _ => return Err(format!("usage: {} PROGRAM THREADS FILE OUTPUT [PASSES SPAN]", arguments[0]).into()),
        };
        let threads = threads.parse()?;
        Ok(Call { program: program.clone(), threads, file: file.clone(), passes, output: output.clone() })
    }

    /// Whether rows are dropped as they come.
    pub fn drops(&self) -> bool {
        self.output == "-"
    }

    /// Writes the rows, unless they are dropped, and prints how many seconds they took.
    pub fn finish(&self, seconds: f64, rows: impl FnOnce() -> Vec<Row>) -> Result<(), Failure> {
        if !self.drops() {
            let mut out = csv::WriterBuilder::new().flexible(true).from_path(&self.output)?;
            for row in rows() {
                out.write_record(row)?;
            }
            out.flush()?;
        }
        println!("{seconds}");
        Ok(())
    }
}
