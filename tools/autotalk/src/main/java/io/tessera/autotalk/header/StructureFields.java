package io.tessera.autotalk.header;

import io.tessera.autotalk.description.Field;
import io.tessera.autotalk.description.TypeName;

import java.util.ArrayList;
import java.util.List;

/** The members of a structure with their offsets on x86-64 Linux. Stateless but for the types that it translates. */
final class StructureFields {
    private final TypeTranslation translation;
    private final Token where;
    private final List<Field> fields = new ArrayList<>();

    private StructureFields(TypeTranslation translation, Token where) {
        this.translation = translation;
        this.where = where;
    }

    /** All members in order. */
    static List<Field> of(CType.Aggregate aggregate, TypeTranslation translation, Token where) {
        StructureFields collector = new StructureFields(translation, where);
        collector.collect(aggregate, 0, "");
        return List.copyOf(collector.fields);
    }

    private void collect(CType.Aggregate aggregate, long begin, String prefix) {
        long end = 0;
        for (CType.Variable member : aggregate.members()) {
            long at = aggregate.union() ? 0 : DataLayout.offset(end, member);
            add(member, begin + at, prefix);
            end = at + DataLayout.size(member.type());
        }
    }

    private void add(CType.Variable member, long offset, String prefix) {
        CType type = member.type();
        long count = 1;
        while (type instanceof CType.Array array) {
            count *= array.count();
            type = array.of();
        }
        CType bare = type instanceof CType.Const constant ? constant.of() : type;
        if (bare instanceof CType.Aggregate inner) {
            collect(inner, offset, member.name().isEmpty() ? prefix : prefix + member.name() + ".");
        } else {
            boolean unnamed = bare instanceof CType.Enumeration enumeration && enumeration.tag().isEmpty();
            TypeName name = unnamed ? new TypeName("int", false, List.of()) : translation.translate(type, where);
            fields.add(new Field(prefix + member.name(), (int) offset, (int) count, name));
        }
    }
}
