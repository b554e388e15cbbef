package io.tessera.memory.residency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.tessera.memory.residency.BudgetRuleModel.Fault;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The budget rule in every interleaving of single accesses to the words; also that each of its steps is needed. */
class BudgetRuleTest {
    @ParameterizedTest
    @CsvSource({"2, 2, 2, false", "2, 2, 3, true", "2, 3, 4, false", "3, 1, 2, false"})
    void neverIsMoreInUseThanThereIsAndEveryTurnCanBeServed(int clients, int needed, int capacity, boolean deaths) {
        BudgetRuleModel model = new BudgetRuleModel(clients, needed, capacity, deaths, Fault.NONE);
        byte[] bad = model.explore();
        assertNull(bad, () -> "too much is in use: " + BudgetRuleModel.describe(bad));
        assertTrue(model.size() > 100, () -> "only " + model.size() + " states");
        System.out.println("budget rule: " + model.size() + " states of " + clients + " clients that need " + needed + " of "
                + capacity);
        assertEquals(0, model.withoutAWayOn(), "states from which the turn can never be served");
    }

    @ParameterizedTest
    @EnumSource(value = Fault.class, mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void everyStepOfTheRuleIsNeeded(Fault fault) {
        assertNotNull(new BudgetRuleModel(2, 2, 3, false, fault).explore(), () -> fault + " was not found out");
    }
}
