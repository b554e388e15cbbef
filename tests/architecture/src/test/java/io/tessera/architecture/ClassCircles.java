package io.tessera.architecture;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Circles of top-level classes: classes of which each depends on all others, directly or through others (Tarjan,
 * "Depth-first search and linear graph algorithms", 1972). What a sealed type knows of those it permits does not count.
 */
final class ClassCircles {
    private final Map<String, Set<String>> uses = new TreeMap<>();
    private final Map<String, Integer> order = new HashMap<>();
    private final Map<String, Integer> lowest = new HashMap<>();
    private final Deque<String> open = new ArrayDeque<>();
    private final Set<String> isOpen = new HashSet<>();
    private final List<Set<String>> circles = new ArrayList<>();

    private ClassCircles(JavaClasses classes) {
        for (JavaClass type : classes) {
            Set<String> targets = uses.computeIfAbsent(topLevel(type), name -> new TreeSet<>());
            for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
                JavaClass target = dependency.getTargetClass().getBaseComponentType();
                if (classes.contain(target.getName()) && !permits(type, target)) {
                    targets.add(topLevel(target));
                }
            }
            targets.remove(topLevel(type));
        }
        for (String type : uses.keySet()) {
            if (!order.containsKey(type)) {
                visit(type);
            }
        }
    }

    /** The circles, each as the names of its classes. */
    static List<Set<String>> of(JavaClasses classes) {
        return new ClassCircles(classes).circles;
    }

    private static boolean permits(JavaClass type, JavaClass target) {
        return target.isAssignableTo(type.getName()) && type.reflect().isSealed();
    }

    private static String topLevel(JavaClass type) {
        String name = type.getName();
        int nested = name.indexOf('$');
        return nested < 0 ? name : name.substring(0, nested);
    }

    private void visit(String type) {
        order.put(type, order.size());
        lowest.put(type, order.get(type));
        open.push(type);
        isOpen.add(type);
        for (String target : uses.get(type)) {
            if (!order.containsKey(target)) {
                visit(target);
                lowest.merge(type, lowest.get(target), Math::min);
            } else if (isOpen.contains(target)) {
                lowest.merge(type, order.get(target), Math::min);
            }
        }
        if (lowest.get(type).equals(order.get(type))) {
            Set<String> circle = new TreeSet<>();
            String member;
            do {
                member = open.pop();
                isOpen.remove(member);
                circle.add(member);
            } while (!member.equals(type));
            if (circle.size() > 1) {
                circles.add(circle);
            }
        }
    }
}
