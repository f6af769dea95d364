package glaive.peer;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple3;
import org.apache.flink.api.java.typeutils.ValueTypeInfo;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.types.LongValue;

/** Query ysb: the views of each ad, or of each campaign, in a window. */
final class AdEvents {
    private static final Duration WINDOW_OF_ADS = Duration.ofMinutes(10);
    private static final Duration WINDOW_OF_CAMPAIGNS = Duration.ofSeconds(10);
    private static final int VIEW = 0;

    private AdEvents() {}

    /** An event of the file. */
    public record AdEvent(long timeMillis, long ad, int type) {
        boolean isView() {
            return type == VIEW;
        }
    }

    /** The profile slash, which has a count for each ad. */
    static Program keyed(Path file, int threads) throws IOException, Failure {
        Shares<AdEvent> shares = shares(file, threads);
        return env -> counts(
                events(env, shares).filter(AdEvent::isView).map(AdEvent::ad).returns(Types.LONG), WINDOW_OF_ADS);
    }

    /** The profile yahoo, which has a count for each campaign. The table of ads lies beside the file. */
    static Program joined(Path file, int threads) throws IOException, Failure {
        Shares<AdEvent> shares = shares(file, threads);
        HashMap<Long, Long> campaigns = new HashMap<>();
        CsvFile.read(
                file.resolveSibling("ads.csv"),
                fields -> campaigns.put(Long.parseUnsignedLong(fields[0]), Long.parseUnsignedLong(fields[1])),
                "ad_id",
                "campaign");
        FlatMapFunction<AdEvent, Long> join = (event, out) -> {
            Long campaign = event.isView() ? campaigns.get(event.ad) : null;
            if (campaign != null) {
                out.collect(campaign);
            }
        };
        return env -> counts(events(env, shares).flatMap(join).returns(Types.LONG), WINDOW_OF_CAMPAIGNS);
    }

    private static Shares<AdEvent> shares(Path file, int threads) throws IOException, Failure {
        return Shares.ofExecutors(file, threads, AdEvents::parse, "event_time_ms", "ad_id", "event_type");
    }

    private static AdEvent parse(String[] fields) {
        return new AdEvent(Long.parseLong(fields[0]), Long.parseUnsignedLong(fields[1]), Integer.parseInt(fields[2]));
    }

    private static DataStream<AdEvent> events(StreamExecutionEnvironment env, Shares<AdEvent> shares) {
        return MemorySource.attach(env, shares, Windows.inOrder(AdEvent::timeMillis), AdEvent.class);
    }

    private static DataStream<Tuple3<Long, Long, Long>> counts(DataStream<Long> keys, Duration window) {
        return Windows.aggregate(keys, key -> key, window, new Count(), ValueTypeInfo.LONG_VALUE_TYPE_INFO, Types.LONG);
    }

    /** How often a key comes. */
    private static final class Count implements AggregateFunction<Long, LongValue, Long> {
        private static final long serialVersionUID = 1;

        @Override
        public LongValue createAccumulator() {
            return new LongValue();
        }

        @Override
        public LongValue add(Long key, LongValue count) {
            count.setValue(count.getValue() + 1);
            return count;
        }

        @Override
        public Long getResult(LongValue count) {
            return count.getValue();
        }

        @Override
        public LongValue merge(LongValue left, LongValue right) {
            left.setValue(left.getValue() + right.getValue());
            return left;
        }
    }
}
