#include <TMB.hpp>
template <class Type> Type objective_function<Type>::operator()() {
    DATA_MATRIX(y);
    PARAMETER(mu_b); PARAMETER(log_sigma_a); PARAMETER(log_sigma_b); PARAMETER_VECTOR(theta); PARAMETER_VECTOR(log_a); PARAMETER_VECTOR(b);
    Type sigma_a = exp(log_sigma_a), sigma_b = exp(log_sigma_b);
    Type log_p = dnorm(mu_b, Type(0), Type(2), true) + dnorm(sigma_a, Type(0), Type(1), true) + log_sigma_a +
                 dnorm(sigma_b, Type(0), Type(1), true) + log_sigma_b;
    log_p += sum(dnorm(theta, Type(0), Type(1), true)) + sum(dnorm(log_a, Type(0), sigma_a, true)) + sum(dnorm(b, mu_b, sigma_b, true));
    for (int j = 0; j < b.size(); j++)
        for (int i = 0; i < theta.size(); i++)
            log_p += dbinom_robust(y(i, j), Type(1), exp(log_a(j)) * (theta(i) - b(j)), true);
    ADREPORT(mu_b); ADREPORT(sigma_a); ADREPORT(sigma_b);
    return -log_p;
}
