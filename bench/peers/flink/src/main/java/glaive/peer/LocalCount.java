package glaive.peer;

import java.util.HashMap;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.types.LongValue;

/** Splits the lines of a subtask into words, and counts these. Emits the counts at the end of the input. */
final class LocalCount extends AbstractStreamOperator<Tuple2<String, Long>>
        implements OneInputStreamOperator<String, Tuple2<String, Long>>, BoundedOneInput {
    private static final long serialVersionUID = 1;

    private transient HashMap<String, LongValue> counts;

    @Override
    public void open() throws Exception {
        super.open();
        counts = new HashMap<>();
    }

    @Override
    public void processElement(StreamRecord<String> line) {
        String text = line.getValue();
        int begin = 0;
        for (int end = 0; end < text.length(); ++end) {
            if (!isOfWord(text.charAt(end))) {
                add(text, begin, end);
                begin = end + 1;
            }
        }
        add(text, begin, text.length());
    }

    private void add(String text, int begin, int end) {
        if (begin < end) {
            LongValue count = counts.computeIfAbsent(text.substring(begin, end), word -> new LongValue());
            count.setValue(count.getValue() + 1);
        }
    }

    /** Whether the character is an ASCII letter, a digit, or no ASCII at all. */
    private static boolean isOfWord(char each) {
        return each >= 'a' && each <= 'z' || each >= 'A' && each <= 'Z' || each >= '0' && each <= '9' || each >= 0x80;
    }

    @Override
    public void endInput() {
        counts.forEach((word, count) -> output.collect(new StreamRecord<>(Tuple2.of(word, count.getValue()))));
    }
}
