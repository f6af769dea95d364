package glaive.peer;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/** The records of a source, of which each subtask has a share. */
final class Shares<T> {
    private final List<List<T>> lists = new ArrayList<>();
    private int next;

    Shares(int subtasks) {
        for (int subtask = 0; subtask < subtasks; ++subtask) {
            lists.add(new ArrayList<>());
        }
    }

    /** Reads a file of flows. A subtask has the records of the executor with its number. */
    static <T> Shares<T> ofExecutors(Path file, int subtasks, Function<String[], T> parse, String... columns)
            throws IOException, Failure {
        Shares<T> shares = new Shares<>(subtasks);
        String[] all = Arrays.copyOf(columns, columns.length + 1);
        all[columns.length] = "executor";
        CsvFile.read(file, fields -> shares.list(fields[columns.length]).add(parse.apply(fields)), all);
        return shares;
    }

    private List<T> list(String executor) {
        int subtask = Integer.parseInt(executor);
        if (subtask < 0 || subtask >= lists.size()) {
            throw new IllegalArgumentException("executor " + subtask + ", of " + lists.size());
        }
        return lists.get(subtask);
    }

    /** Gives the next subtask a record. */
    void deal(T record) {
        lists.get(next).add(record);
        next = (next + 1) % lists.size();
    }

    int subtasks() {
        return lists.size();
    }

    List<T> of(int subtask) {
        return lists.get(subtask);
    }
}
