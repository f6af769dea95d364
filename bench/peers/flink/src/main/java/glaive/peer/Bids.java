package glaive.peer;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.api.common.functions.AggregateFunction;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.typeutils.ValueTypeInfo;
import org.apache.flink.types.LongValue;

/** Query nb7: the highest price of each auction in each minute. */
final class Bids {
    private static final Duration WINDOW = Duration.ofMinutes(1);

    private Bids() {}

    /** A bid of the file. */
    public record Bid(long timeMillis, long auction, long bidder, long price) {}

    static Program load(Path file, int threads) throws IOException, Failure {
        Shares<Bid> shares =
                Shares.ofExecutors(file, threads, Bids::parse, "event_time_ms", "auction", "bidder", "price");
        return env -> Windows.aggregate(
                MemorySource.attach(env, shares, Windows.inOrder(Bid::timeMillis), Bid.class)
                        .map(bid -> Tuple2.of(bid.auction, bid.price))
                        .returns(Types.TUPLE(Types.LONG, Types.LONG)),
                bid -> bid.f0,
                WINDOW,
                new Highest(),
                ValueTypeInfo.LONG_VALUE_TYPE_INFO,
                Types.LONG);
    }

    private static Bid parse(String[] fields) {
        return new Bid(
                Long.parseLong(fields[0]),
                Long.parseLong(fields[1]),
                Long.parseLong(fields[2]),
                Long.parseLong(fields[3]));
    }

    /** The highest price of auctions with their prices. */
    private static final class Highest implements AggregateFunction<Tuple2<Long, Long>, LongValue, Long> {
        private static final long serialVersionUID = 1;

        @Override
        public LongValue createAccumulator() {
            return new LongValue(Long.MIN_VALUE);
        }

        @Override
        public LongValue add(Tuple2<Long, Long> bid, LongValue highest) {
            highest.setValue(Math.max(highest.getValue(), bid.f1));
            return highest;
        }

        @Override
        public Long getResult(LongValue highest) {
            return highest.getValue();
        }

        @Override
        public LongValue merge(LongValue left, LongValue right) {
            left.setValue(Math.max(left.getValue(), right.getValue()));
            return left;
        }
    }
}
