package io.tessera.guardian.verify;

import io.tessera.guardian.verify.LinkInterface.Item;
import io.tessera.guardian.verify.LinkInterface.Kind;
import io.tessera.guardian.verify.LinkInterface.Routine;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Checks all texts that are linked with each other, each of which was verified separately: a name has the same shape in all of them, no call returns
 * to its own function, and the stack that calls take over all texts is known. If a linker chooses among weak definitions, all of them count. Time and
 * memory grow with the texts; nothing recurses. Stateless.
 */
public final class LinkCheck {
    private static final String PRINT = "vprintf";

    private LinkCheck() {
    }

    /** A function of a text, or the name of a function that several texts may define. */
    private static final class Node {
        private final String name;
        private final Routine routine;
        private final List<Node> calls = new ArrayList<>();
        private long bytes;
        private boolean shared;
        private int next;
        private boolean entered;
        private boolean done;

        Node(String name, Routine routine) {
            this.name = name;
            this.routine = routine;
        }
    }

    /**
     * Checks texts that are to be linked.
     *
     * @param texts in any order
     * @return lower bound of the bytes of local memory for the variables of each kernel and its callees, by name
     * @throws UnverifiedException if nothing that is linked from these texts may be loaded
     */
    public static Map<String, Long> check(List<LinkInterface> texts) throws UnverifiedException {
        Map<String, Node> names = names(texts);
        List<Node> nodes = new ArrayList<>();
        for (LinkInterface text : texts) {
            nodes(text, names, nodes);
        }
        Map<String, Long> stacks = new LinkedHashMap<>();
        for (Node node : nodes) {
            walk(node);
            if (node.routine.kernel()) {
                stacks.merge(node.name, node.bytes, Math::max);
                if (node.shared && node.routine.clustered() && texts.getFirst().mode != Mode.NONE) {
                    throw new UnverifiedException(node.routine.line(), "shared memory of kernel '" + node.name + "', which is launched in clusters");
                }
            }
        }
        return stacks;
    }

    /** All names that more than one text may have, each in one shape. Those of functions are in the result. */
    private static Map<String, Node> names(List<LinkInterface> texts) throws UnverifiedException {
        Map<String, Item> known = new HashMap<>();
        Map<String, Node> functions = new HashMap<>();
        for (LinkInterface text : texts) {
            if (text.mode != texts.getFirst().mode) {
                throw new UnverifiedException(0, "a text that is fenced by " + text.mode + " among others by " + texts.getFirst().mode);
            }
            for (Item item : text.items) {
                if (item.name().equals(PRINT) && item.kind() != Kind.NEEDED) {
                    throw new UnverifiedException(item.line(), "'" + PRINT + "' is the driver's");
                }
                Item before = known.putIfAbsent(item.name(), item);
                if (before != null) {
                    known.put(item.name(), both(before, item));
                }
            }
            text.shown.keySet().forEach(name -> functions.computeIfAbsent(name, n -> new Node(n, null)));
        }
        for (Item item : known.values()) {
            if (item.kind() == Kind.NEEDED && !item.name().equals(PRINT)) {
                throw new UnverifiedException(item.line(), "undefined reference to '" + item.name() + "'");
            }
        }
        return functions;
    }

    private static Item both(Item one, Item other) throws UnverifiedException {
        if (one.kind() == Kind.OWN || other.kind() == Kind.OWN) {
            throw new UnverifiedException(other.line(), "'" + other.name() + "' is a variable of one text and of another");
        }
        if (!one.shape().equals(other.shape())) {
            throw new UnverifiedException(other.line(),
                    "'" + other.name() + "' is " + one.shape() + " in one text and " + other.shape() + " in another");
        }
        if (one.kind() == Kind.STRONG && other.kind() == Kind.STRONG) {
            throw new UnverifiedException(other.line(), "'" + other.name() + "' is defined in two texts");
        }
        return one.kind().compareTo(other.kind()) >= 0 ? one : other;
    }

    private static void nodes(LinkInterface text, Map<String, Node> names, List<Node> into) throws UnverifiedException {
        Map<String, Node> here = new HashMap<>();
        for (Routine routine : text.routines.values()) {
            here.put(routine.name(), new Node(routine.name(), routine));
        }
        text.shown.forEach((name, function) -> names.get(name).calls.add(here.get(function)));
        for (Node node : here.values()) {
            for (String callee : node.routine.callees()) {
                String own = text.own.get(callee);
                Node called = own != null ? here.get(own) : names.get(callee);
                if (called != null) {
                    node.calls.add(called);
                } else if (!callee.equals(PRINT)) {
                    throw new UnverifiedException(node.routine.line(), "undefined reference to '" + callee + "'");
                }
            }
        }
        into.addAll(here.values());
    }

    /** Goes down all calls once. */
    private static void walk(Node start) throws UnverifiedException {
        Deque<Node> way = new ArrayDeque<>();
        if (!start.entered) {
            start.entered = true;
            way.push(start);
        }
        while (!way.isEmpty()) {
            Node node = way.peek();
            if (node.next < node.calls.size()) {
                Node callee = node.calls.get(node.next++);
                if (callee.entered && !callee.done) {
                    throw new UnverifiedException(line(node), "'" + callee.name + "' calls itself");
                }
                if (!callee.entered) {
                    callee.entered = true;
                    way.push(callee);
                }
                continue;
            }
            way.pop();
            node.done = true;
            node.bytes = node.routine == null ? 0 : node.routine.frameBytes();
            node.shared = node.routine != null && node.routine.shared();
            long most = 0;
            for (Node callee : node.calls) {
                most = Math.max(most, callee.bytes);
                node.shared |= callee.shared;
            }
            node.bytes += most;
        }
    }

    private static int line(Node node) {
        return node.routine == null ? 0 : node.routine.line();
    }
}
