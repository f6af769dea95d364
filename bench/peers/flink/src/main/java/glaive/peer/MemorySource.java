package glaive.peer;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SourceSplit;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Emits records that are in memory. Each subtask emits its own share of them, in their order.
 *
 * <p>A subtask knows its share by its number, so there are no splits.
 */
final class MemorySource<T> implements Source<T, SourceSplit, Void> {
    private static final long serialVersionUID = 1;

    /** The shares of all sources that jobs have had. Subtasks find theirs here, as a serialized job has no records. */
    private static final List<Shares<?>> SOURCES = new ArrayList<>();

    private final int place;

    private MemorySource(int place) {
        this.place = place;
    }

    /** A stream of these records. */
    static <T> DataStream<T> attach(
            StreamExecutionEnvironment env, Shares<T> shares, WatermarkStrategy<T> watermarks, Class<T> type) {
        MemorySource<T> source;
        synchronized (SOURCES) {
            source = new MemorySource<>(SOURCES.size());
            SOURCES.add(shares);
        }
        Run.expect(shares.subtasks());
        return env.fromSource(source, watermarks, type.getSimpleName(), TypeInformation.of(type));
    }

    @Override
    public Boundedness getBoundedness() {
        return Boundedness.BOUNDED;
    }

    @Override
    @SuppressWarnings("unchecked")
    public SourceReader<T, SourceSplit> createReader(SourceReaderContext context) {
        synchronized (SOURCES) {
            return new Reader<>((List<T>) SOURCES.get(place).of(context.getIndexOfSubtask()));
        }
    }

    @Override
    public SplitEnumerator<SourceSplit, Void> createEnumerator(SplitEnumeratorContext<SourceSplit> context) {
        return new NoSplits();
    }

    @Override
    public SplitEnumerator<SourceSplit, Void> restoreEnumerator(
            SplitEnumeratorContext<SourceSplit> context, Void checkpoint) {
        return new NoSplits();
    }

    @Override
    public SimpleVersionedSerializer<SourceSplit> getSplitSerializer() {
        return new NothingSerializer<>();
    }

    @Override
    public SimpleVersionedSerializer<Void> getEnumeratorCheckpointSerializer() {
        return new NothingSerializer<>();
    }

    /** Emits one share. Each poll emits so many records that the task's loop around it costs little. */
    private static final class Reader<T> implements SourceReader<T, SourceSplit> {
        private static final int RECORDS_OF_POLL = 128;

        private final List<T> share;
        private int next;

        Reader(List<T> share) {
            this.share = share;
        }

        @Override
        public void start() {
            Run.arrive();
        }

        @Override
        public InputStatus pollNext(ReaderOutput<T> output) throws InterruptedException {
            if (next == 0) {
                Run.start();
            }
            int end = Math.min(next + RECORDS_OF_POLL, share.size());
            for (; next < end; ++next) {
                output.collect(share.get(next));
            }
            return next < share.size() ? InputStatus.MORE_AVAILABLE : InputStatus.END_OF_INPUT;
        }

        @Override
        public CompletableFuture<Void> isAvailable() {
            return CompletableFuture.completedFuture(null);
        }

        @Override
        public List<SourceSplit> snapshotState(long checkpoint) {
            return List.of();
        }

        @Override
        public void addSplits(List<SourceSplit> splits) {}

        @Override
        public void notifyNoMoreSplits() {}

        @Override
        public void close() {}
    }

    /** An enumerator that has nothing to assign. */
    private static final class NoSplits implements SplitEnumerator<SourceSplit, Void> {
        @Override
        public void start() {}

        @Override
        public void handleSplitRequest(int subtask, String host) {}

        @Override
        public void addSplitsBack(List<SourceSplit> splits, int subtask) {}

        @Override
        public void addReader(int subtask) {}

        @Override
        public Void snapshotState(long checkpoint) {
            return null;
        }

        @Override
        public void close() {}
    }

    /** A serializer for what does not occur: splits, and the checkpoints of an enumerator. */
    private static final class NothingSerializer<T> implements SimpleVersionedSerializer<T> {
        @Override
        public int getVersion() {
            return 1;
        }

        @Override
        public byte[] serialize(T nothing) {
            throw new UnsupportedOperationException();
        }

        @Override
        public T deserialize(int version, byte[] nothing) {
            throw new UnsupportedOperationException();
        }
    }
}
