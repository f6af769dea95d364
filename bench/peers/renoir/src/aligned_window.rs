//! AlignedWindow: windows that begin at multiples of their length, for keys that have the start of the window in them. The
//! start is also the event time of all records of such a key, so each key has one window. The watermark closes it when all
//! threads have read a later record.
//!
//! Renoir's own windows of event time begin with the first record of a key, and lose earlier ones that another thread has
//! read. With keys as here their rows are the same, but they are three to seven times as slow: each key has a queue.
//!
//!     timed(records).group_by(|(start, id)| (*start, *id)).window(AlignedWindow).count()

use renoir::operator::window::{WindowAccumulator, WindowDescription, WindowManager, WindowResult};
use renoir::operator::{Data, StreamElement, Timestamp};

#[derive(Clone)]
pub struct AlignedWindow;

impl<T: Data> WindowDescription<T> for AlignedWindow {
    type Manager<A: WindowAccumulator<In = T>> = OneWindow<A>;

    fn build<A: WindowAccumulator<In = T>>(&self, state: A) -> OneWindow<A> {
        OneWindow { state: Some(state), start: Timestamp::MIN }
    }
}

/// The window of a key. It has a state until it closes.
#[derive(Clone)]
pub struct OneWindow<A> {
    state: Option<A>,
    start: Timestamp,
}

impl<A: WindowAccumulator> WindowManager for OneWindow<A> {
    type In = A::In;
    type Out = A::Out;
    type Output = Option<WindowResult<A::Out>>;

    #[inline]
    fn process(&mut self, element: StreamElement<A::In>) -> Self::Output {
        match element {
            StreamElement::Timestamped(record, time) => {
                self.start = time;
                self.state.as_mut().expect("a window that is open").process(&record);
                None
            }
            StreamElement::Watermark(time) if time <= self.start => None,
            StreamElement::Watermark(_) | StreamElement::FlushAndRestart | StreamElement::Terminate => {
                self.state.take().map(|state| WindowResult::Timestamped(state.output(), self.start))
            }
            StreamElement::Item(_) | StreamElement::FlushBatch => unreachable!("records have event times"),
        }
    }

    fn recycle(&self) -> bool {
        self.state.is_none()
    }
}
