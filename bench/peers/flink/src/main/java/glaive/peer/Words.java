package glaive.peer;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.windowing.assigners.GlobalWindows;

/**
 * Word count. Each subtask counts the words that it reads. The counts move to the subtasks of their words. These add
 * them up until the end of the stream.
 */
final class Words {
    private static final TypeInformation<Tuple2<String, Long>> COUNT = Types.TUPLE(Types.STRING, Types.LONG);

    private Words() {}

    /** Reads a text, whose lines go to the subtasks in turns. */
    static Program load(Path file, int threads) throws IOException {
        Shares<String> shares = new Shares<>(threads);
        try (BufferedReader lines = Files.newBufferedReader(file)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                shares.deal(line);
            }
        }
        return env -> MemorySource.attach(env, shares, WatermarkStrategy.noWatermarks(), String.class)
                .transform("LocalCount", COUNT, new LocalCount())
                .keyBy(count -> count.f0, Types.STRING)
                .window(GlobalWindows.createWithEndOfStreamTrigger())
                .reduce((left, right) -> Tuple2.of(left.f0, left.f1 + right.f1));
    }
}
