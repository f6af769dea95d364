package glaive.peer;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.connector.sink2.Sink;
import org.apache.flink.api.connector.sink2.SinkWriter;
import org.apache.flink.api.connector.sink2.WriterInitContext;
import org.apache.flink.streaming.api.datastream.DataStream;

/** Collects the rows of a job, or drops them as they come. Stops the run's clock after the last one. */
final class RowSink<T> implements Sink<T> {
    private static final long serialVersionUID = 1;

    private final boolean drops;

    private RowSink(boolean drops) {
        this.drops = drops;
    }

    /** Ends a job with such a sink. */
    static <T> void attach(DataStream<T> rows, boolean drops) {
        Run.expect(rows.sinkTo(new RowSink<>(drops)).getTransformation().getParallelism());
    }

    @Override
    public SinkWriter<T> createWriter(WriterInitContext context) {
        Run.arrive();
        return new Writer<>(drops);
    }

    private static final class Writer<T> implements SinkWriter<T> {
        private final boolean drops;
        private final List<T> rows = new ArrayList<>();

        Writer(boolean drops) {
            this.drops = drops;
        }

        @Override
        public void write(T row, Context context) {
            if (!drops) {
                rows.add(row);
            }
        }

        @Override
        public void flush(boolean endOfInput) {
            if (endOfInput) {
                Run.end(rows);
            }
        }

        @Override
        public void close() {}
    }
}
