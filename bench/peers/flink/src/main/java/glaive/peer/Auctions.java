package glaive.peer;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import org.apache.flink.api.common.functions.JoinFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.api.java.tuple.Tuple4;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.windowing.assigners.TumblingEventTimeWindows;

/** Query nb8: auctions, joined with the registrations of their sellers in the same twelve hours. */
final class Auctions {
    private static final Duration WINDOW = Duration.ofHours(12);
    private static final TypeInformation<Tuple2<Long, Long>> PAIR = Types.TUPLE(Types.LONG, Types.LONG);

    private Auctions() {}

    /** An auction of the file. */
    public record Auction(long timeMillis, long auction, long seller) {}

    /** A registration of the file sellers.csv. */
    public record Seller(long timeMillis, long seller) {}

    /** The sellers lie beside the file. */
    static Program load(Path file, int threads) throws IOException, Failure {
        Shares<Auction> auctions = Shares.ofExecutors(
                file,
                threads,
                fields -> new Auction(Long.parseLong(fields[0]), Long.parseLong(fields[1]), Long.parseLong(fields[2])),
                "event_time_ms",
                "auction",
                "seller");
        Shares<Seller> sellers = Shares.ofExecutors(
                file.resolveSibling("sellers.csv"),
                threads,
                fields -> new Seller(Long.parseLong(fields[0]), Long.parseLong(fields[1])),
                "event_time_ms",
                "seller");
        return env -> {
            DataStream<Tuple2<Long, Long>> left = MemorySource.attach(
                            env, auctions, Windows.inOrder(Auction::timeMillis), Auction.class)
                    .map(auction -> Tuple2.of(auction.seller, auction.auction))
                    .returns(PAIR);
            DataStream<Tuple2<Long, Long>> right = MemorySource.attach(
                            env, sellers, Windows.inOrder(Seller::timeMillis), Seller.class)
                    .map(seller -> Tuple2.of(seller.seller, seller.timeMillis))
                    .returns(PAIR);
            return left.join(right)
                    .where(auction -> auction.f0, Types.LONG)
                    .equalTo(seller -> seller.f0, Types.LONG)
                    .window(TumblingEventTimeWindows.of(WINDOW))
                    .apply(row(), Types.TUPLE(Types.LONG, Types.LONG, Types.LONG, Types.LONG));
        };
    }

    /** Makes a row of an auction and a registration, whose time tells the window. */
    private static JoinFunction<Tuple2<Long, Long>, Tuple2<Long, Long>, Tuple4<Long, Long, Long, Long>> row() {
        long millis = WINDOW.toMillis();
        return (auction, seller) -> Tuple4.of(seller.f1 - seller.f1 % millis, seller.f0, auction.f1, seller.f1);
    }
}
