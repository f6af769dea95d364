package glaive.peer;

import java.io.Serializable;
import java.time.Duration;
import java.util.function.ToLongFunction;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.functions.KeySelector;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.functions.windowing.WindowFunction;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;
import org.apache.flink.streaming.api.windowing.windows.TimeWindow;

/** What the queries with tumbling windows share. Their rows are of a window's start, a key and a value. */
final class Windows {
    private Windows() {}

    /** A record's event time, as Flink can serialize it. */
    interface EventTime<T> extends ToLongFunction<T>, Serializable {}

    /** Watermarks of flows whose records come in the order of their event times. */
    static <T> WatermarkStrategy<T> inOrder(EventTime<T> millis) {
        return WatermarkStrategy.<T>forMonotonousTimestamps()
                .withTimestampAssigner((record, unused) -> millis.applyAsLong(record));
    }

    /** Aggregates the records of each key and window as they come. */
    static <T, A, V> DataStream<Tuple3<Long, Long, V>> aggregate(
            DataStream<T> records,
            KeySelector<T, Long> key,
            Duration window,
            AggregateFunction<T, A, V> function,
            TypeInformation<A> accumulator,
            TypeInformation<V> value) {
        WindowFunction<V, Tuple3<Long, Long, V>, Long, TimeWindow> rows = (of, covered, values, out) ->
                values.forEach(each -> out.collect(Tuple3.of(covered.getStart(), of, each)));
        return records.keyBy(key, Types.LONG)
                .window(TumblingEventTimeWindows.of(window))
                .aggregate(function, rows, accumulator, Types.TUPLE(Types.LONG, Types.LONG, value));
    }
}
