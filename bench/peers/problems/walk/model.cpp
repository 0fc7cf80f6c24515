#include <TMB.hpp>
template <class Type> Type objective_function<Type>::operator()() {
    DATA_VECTOR(y);
    PARAMETER(log_sigma_x); PARAMETER(log_sigma_y); PARAMETER_VECTOR(x);
    Type sigma_x = exp(log_sigma_x), sigma_y = exp(log_sigma_y);
    Type log_p = dnorm(sigma_x, Type(0), Type(1), true) + log_sigma_x + dnorm(sigma_y, Type(0), Type(1), true) + log_sigma_y;
    log_p += dnorm(x(0), Type(0), Type(10), true) + sum(dnorm(y, x, sigma_y, true));
    for (int t = 1; t < y.size(); t++) log_p += dnorm(x(t), x(t - 1), sigma_x, true);
    ADREPORT(sigma_x); ADREPORT(sigma_y);
    return -log_p;
}
