package glaive.peer;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Path;
import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.datastream.DataStream;

/** NEXMark's queries 0 to 2, which keep no state. */
final class Nexmark {
    private Nexmark() {}

    /** A bid of the file. */
    public record Bid(
            long timeMillis, long auction, long bidder, long price, String channel, String url, String extra) {}

    /** An event of the file. These queries ask for nothing of events that are no bids. */
    public record Event(long timeMillis, Bid bid) {}

    /** A row of query 0. */
    public record BidRow(long auction, long bidder, long price, long timeMillis, String extra) {}

    /** A row of query 1. */
    public record EuroRow(long auction, long bidder, BigDecimal price, long timeMillis, String extra) {}

    /** A row of query 2. */
    public record PriceRow(long auction, long price) {}

    /** Query 0: all bids. */
    static Program bids(Path file, int threads) throws IOException, Failure {
        return ofBids(file, threads, BidRow.class, (bid, out) ->
                out.collect(new BidRow(bid.auction, bid.bidder, bid.price, bid.timeMillis, bid.extra)));
    }

    /** Query 1: all bids, with prices in euros. */
    static Program euros(Path file, int threads) throws IOException, Failure {
        return ofBids(file, threads, EuroRow.class, (bid, out) -> {
            BigDecimal price = BigDecimal.valueOf(bid.price * 908, 3);
            out.collect(new EuroRow(bid.auction, bid.bidder, price, bid.timeMillis, bid.extra));
        });
    }

    /** Query 2: the prices of bids for some auctions. */
    static Program selected(Path file, int threads) throws IOException, Failure {
        return ofBids(file, threads, PriceRow.class, (bid, out) -> {
            if (bid.auction % 123 == 0) {
                out.collect(new PriceRow(bid.auction, bid.price));
            }
        });
    }

    /** What {@code select} emits for the bids of the events. */
    private static <R> Program ofBids(Path file, int threads, Class<R> row, FlatMapFunction<Bid, R> select)
            throws IOException, Failure {
        Shares<Event> shares = read(file, threads);
        TypeInformation<R> type = TypeInformation.of(row);
        return env -> {
            DataStream<Event> events =
                    MemorySource.attach(env, shares, Windows.inOrder(Event::timeMillis), Event.class);
            return events.filter(event -> event.bid != null).map(Event::bid).returns(Bid.class).flatMap(select, type);
        };
    }

    /** The subtasks have the events in turns. */
    private static Shares<Event> read(Path file, int threads) throws IOException, Failure {
        Shares<Event> shares = new Shares<>(threads);
        CsvFile.read(
                file,
                fields -> {
                    Bid bid = fields[0].equals("bid") ? bid(fields) : null;
                    shares.deal(new Event(Long.parseLong(fields[1]), bid));
                },
                "kind",
                "event_time_ms",
                "auction",
                "bidder",
                "price",
                "channel",
                "url",
                "extra");
        return shares;
    }

    private static Bid bid(String[] fields) {
        return new Bid(
                Long.parseLong(fields[1]),
                Long.parseLong(fields[2]),
                Long.parseLong(fields[3]),
                Long.parseLong(fields[4]),
                fields[5],
                fields[6],
                fields[7]);
    }
}
